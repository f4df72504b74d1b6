"""Faults of requests to Cloud Storage (CT-3)."""
