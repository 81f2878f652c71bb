"""The functions of the public namespace, a file a chapter. They return pending Arrays or views, and touch no device."""
