"""Files made to harm whoever reads them, and what reading each of them costs."""
