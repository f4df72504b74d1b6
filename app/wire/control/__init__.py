"""Our own API under `/_windtunnel`, one module a noun. Importing the package alone costs nothing."""
