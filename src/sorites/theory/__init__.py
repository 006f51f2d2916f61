"""Closed forms and laws, one function per equation."""
