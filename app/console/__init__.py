"""The console: pages made on the server, at `/console/WORLD/…`, of the same use cases as every other edge."""
