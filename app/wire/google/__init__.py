"""What Google's APIs have in common on the wire."""
