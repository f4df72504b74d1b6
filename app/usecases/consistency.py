"""What a page sees that asks several use cases in one transaction: one state of the world, not several."""

from app.store.sessions import see_one_state as see_one_state
