# Lets the sources of LocalStack 4.14.0 run under Python 3.11 and 3.12, which Debian 12 and Ubuntu 24.04 have: they are
# published for 3.10 and later, and use a decorator of 3.13 and the syntax of 3.12 for generic classes. Rewritten is only
# what S3 and SQS load; what the words mean stays the same. Run by the interpreter of the virtual environment.
import re
import sys
from pathlib import Path

FILES = ("services/stores.py", "services/sqs/queue.py", "state/pickle.py", "utils/tagging.py")

GENERIC_CLASS = re.compile(r"^class (\w+)\[([\w, ]+)\](?:\((.*)\))?:$", re.MULTILINE)


def in_words_of_3_11(match):
    """class A[T](B): → T = TypeVar("T"), class A(B, Generic[T]):"""
    name, parameters, bases = match.groups()
    names = [parameter.strip() for parameter in parameters.split(",")]
    variables = "".join(f'{each} = TypeVar("{each}")\n' for each in names)
    generic = f"Generic[{', '.join(names)}]"
    return (
        f"from typing import Generic, TypeVar\n\n{variables}\n"
        f"class {name}({f'{bases}, ' if bases else ''}{generic}):"
    )


def mended(text):
    text = text.replace("from warnings import deprecated\n", "from typing_extensions import deprecated\n")
    return GENERIC_CLASS.sub(in_words_of_3_11, text)


for name in FILES:
    path = Path(sys.prefix, "lib", f"python3.{sys.version_info[1]}", "site-packages", "localstack", name)
    before = path.read_text(encoding="utf-8")
    after = mended(before)
    if after == before:
        sys.exit(f"{path} isn't what it was in LocalStack 4.14.0: there is nothing to mend")
    compile(after, str(path), "exec")
    path.write_text(after, encoding="utf-8")
