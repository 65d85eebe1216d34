"""What the workflow asks of a machine: devices, memory, time, a scheduler."""
