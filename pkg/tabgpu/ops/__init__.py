"""The functions of the public namespace, one file a chapter. Each returns pending Arrays or views; none touches a device."""
