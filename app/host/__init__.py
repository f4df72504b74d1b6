"""The host: processes, sockets, logs and the banner. Nothing here knows what the service is about."""
