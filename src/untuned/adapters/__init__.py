"""Bridges to outside libraries, one module or folder each; each library is imported only when its bridge is used."""
