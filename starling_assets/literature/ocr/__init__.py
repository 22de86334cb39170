"""OCR of PDF pages whose text layer is missing or cannot be trusted: what is asked of an engine, and the engines."""
