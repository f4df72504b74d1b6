"""The scheduling policy: who gets a fleet's GPUs, where, and whose turn is over (FS-1 to FS-19).

Time is an integer of milliseconds since the world's beginning; GPU-time is GPUs times milliseconds. Nothing here is a
float, and nothing but `State` and the arguments is looked at.
"""
