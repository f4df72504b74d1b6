"""SVG as text, made by pure functions of plain data."""
