"""What lists show, for the wires, which do not know the store."""

from app.store.pages import ListedCluster, ListedNode

__all__ = ["ListedCluster", "ListedNode"]
