"""Vertex AI: one module a topic, whose RPCs register themselves when `application` loads it."""
