"""The verbs of `windtunnel`, one module a noun. Heavy imports are inside the functions: a shell waits for them."""
