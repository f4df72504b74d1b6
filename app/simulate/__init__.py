"""Traces, and policies over them, without a database: the same policy code as the service's (FS-16)."""
