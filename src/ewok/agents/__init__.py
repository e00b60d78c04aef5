"""The only place that knows a learning library. One file per library, imported when it is needed."""
