# Signatures from the host's text, and the arguments of a call.


class Annotation:
    """A type that is only shown: the text of an annotation."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


SIMPLE_TYPES = {kind.__name__: kind for kind in (str, int, float, bool, list, dict, bytes)}
ANY_ARGUMENTS = Signature([Parameter("arguments", Parameter.VAR_KEYWORD)])


def read_annotation(node):
    if node is None:
        return Signature.empty
    text = ast.unparse(node)
    return SIMPLE_TYPES.get(text) or Annotation(text)


def read_signature(text):
    """The Signature that the text says, `(**arguments)` where it is none."""
    try:
        tree = ast.parse("def tool%s: pass" % text).body
        function = tree[0]
        if len(tree) != 1 or not isinstance(function, ast.FunctionDef):
            return ANY_ARGUMENTS
        given = function.args
        positional = [(arg, Parameter.POSITIONAL_ONLY) for arg in given.posonlyargs]
        positional += [(arg, Parameter.POSITIONAL_OR_KEYWORD) for arg in given.args]
        defaults = [None] * (len(positional) - len(given.defaults)) + given.defaults
        parameters = [(*pair, default) for pair, default in zip(positional, defaults)]
        if given.vararg:
            parameters.append((given.vararg, Parameter.VAR_POSITIONAL, None))
        parameters += [(arg, Parameter.KEYWORD_ONLY, default) for arg, default in zip(given.kwonlyargs, given.kw_defaults)]
        if given.kwarg:
            parameters.append((given.kwarg, Parameter.VAR_KEYWORD, None))
        return Signature(
            [
                Parameter(
                    arg.arg,
                    kind,
                    default=Parameter.empty if default is None else ast.literal_eval(default),
                    annotation=read_annotation(arg.annotation),
                )
                for arg, kind, default in parameters
            ],
            return_annotation=read_annotation(function.returns),
        )
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ANY_ARGUMENTS


def is_whole(value, args, kwargs, signature):
    """Whether a call's one positional dict is all its arguments rather than the first of them."""
    if len(args) != 1 or kwargs or not isinstance(value, dict):
        return False
    for parameter in signature.parameters.values():
        if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL):
            kind = parameter.annotation
            if kind is Parameter.empty or kind is dict:
                return False
            return not (isinstance(kind, Annotation) and takes_dict(kind.text))
    return True


def takes_dict(text):
    """Whether a value of the annotated type may be a dict; names of one's own are TypedDicts."""
    for name in re.findall(r"[A-Za-z_][A-Za-z_0-9.]*", re.sub(r"\"[^\"]*\"|'[^']*'", "", text)):
        if name not in ("str", "int", "float", "bool", "bytes", "list", "tuple", "None", "Literal"):
            return True
    return False


def read_arguments(name, signature, names, args, kwargs):
    """The tool's arguments from a Python call: what was given, by the names of the tool; None for what defaults to None is not given."""
    if args and is_whole(args[0], args, kwargs, signature):
        return dict(args[0])
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as failure:
        raise TypeError("%s(): %s; its signature is %s%s" % (name, failure, name, signature)) from None
    arguments = {}
    for key, value in bound.arguments.items():
        parameter = signature.parameters[key]
        if parameter.kind is Parameter.VAR_KEYWORD:
            arguments.update(value)
        elif parameter.kind is Parameter.VAR_POSITIONAL:
            arguments[names.get(key, key)] = list(value)
        elif value is not None or parameter.default is not None:
            arguments[names.get(key, key)] = value
    return arguments
