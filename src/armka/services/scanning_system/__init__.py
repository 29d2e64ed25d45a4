"""A reference ИС Сканирование: documents over HTTP in, words and tables with their places out."""

NAME = "scanning-system"
VERSION = "1.0.0"
