"""From the nominal kernel to the worst one."""
