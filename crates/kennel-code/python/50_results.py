# What a tool returned, as Python objects.


def read_result(result, server, tool):
    """structuredContent, else a sole text (parsed where it is a JSON object or array), else the list of blocks; MCPError for isError."""
    if not isinstance(result, dict):
        return result
    content = result.get("content")
    content = content if isinstance(content, list) else []
    if result.get("isError"):
        texts = [block["text"] for block in content if is_text(block)]
        raise MCPError("\n".join(texts) or "the tool failed and gave no reason", content=content, server=server, tool=tool)
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    if not content:
        return None
    if len(content) > 1:
        return [block["text"] if is_text(block) else block for block in content]
    return read_text(content[0]["text"]) if is_text(content[0]) else content[0]


def is_text(block):
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def read_text(text):
    if text.lstrip(SPACE)[:1] in ("{", "["):
        try:
            return decode_json(text)
        except (ValueError, RecursionError):
            pass
    return text
