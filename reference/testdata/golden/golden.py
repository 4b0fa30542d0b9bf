"""Works out the golden vectors beside it: python3 golden.py writes <type>.txt.

Numbers are fractions, rounding is done on them, and every order of additions is written out here
once more, from the algorithms' description. Nothing of collsim is used.
"""
import random
from fractions import Fraction as F

# name: bits of the significand, least and largest exponent of a normal number, width, saturates, NaN
FLOATS = {
    "float64": (53, -1022, 1023, 64, False, 0xFFF8000000000000),
    "float32": (24, -126, 127, 32, False, 0x7FFFFFFF),
    "float16": (11, -14, 15, 16, False, 0x7FFF),
    "bfloat16": (8, -126, 127, 16, False, 0x7FFF),
    "float8_e4m3fn": (4, -6, 8, 8, True, 0x7F),
    "float8_e5m2": (3, -14, 15, 8, True, 0x7F),
}
NAN = "nan"


class Num:
    """A finite number with the sign of its zero, or an infinity."""

    def __init__(self, value, negative=None, infinite=False):
        self.value, self.infinite = F(value), infinite
        self.negative = value < 0 if negative is None else negative


class Float:
    def __init__(self, name):
        self.name = name
        self.p, self.emin, self.emax, self.width, self.saturates, self.nan = FLOATS[name]
        self.largest = (2 - F(2) ** (1 - self.p)) * F(2) ** self.emax
        if name == "float8_e4m3fn":
            self.largest = F(448)
        self.ulp0 = F(2) ** (self.emin - self.p + 1)

    def round(self, x, negative):
        """x, a fraction, to nearest, ties to even."""
        a = abs(x)
        e = self.emin
        while F(2) ** (e + 1) <= a:
            e += 1
        unit = F(2) ** (e - self.p + 1)
        n, rest = divmod(a, unit)
        if rest * 2 > unit or rest * 2 == unit and n % 2 == 1:
            n += 1
        a = n * unit
        if a > self.largest:
            if self.saturates:
                return Num(-self.largest if negative else self.largest)
            return Num(0, negative, True)
        return Num(-a if negative else a, negative)

    def settle(self, x):
        """An operation's result that is not finite: infinities saturate where there are none."""
        if x is not NAN and x.infinite and self.saturates:
            return Num(-self.largest if x.negative else self.largest)
        return x

    def add(self, x, y):
        if x is NAN or y is NAN or x.infinite and y.infinite and x.negative != y.negative:
            return NAN
        if x.infinite or y.infinite:
            return self.settle(x if x.infinite else y)
        s = x.value + y.value
        return self.round(s, s < 0 or s == 0 and x.negative and y.negative)

    def mul(self, x, y):
        if x is NAN or y is NAN:
            return NAN
        negative = x.negative != y.negative
        if x.infinite or y.infinite:
            if not (x.infinite or x.value) or not (y.infinite or y.value):
                return NAN
            return self.settle(Num(0, negative, True))
        return self.round(x.value * y.value, negative)

    def div(self, x, n):
        if x is NAN or x.infinite:
            return self.settle(x)
        return self.round(x.value / n, x.negative)

    def pick(self, x, y, greater):
        if x is NAN or y is NAN:
            return self.settle(y if x is NAN else x)
        key = lambda v: ((-1 if v.negative else 1) if v.infinite else 0, v.value, not v.negative)
        return self.settle((max if greater else min)(x, y, key=key))

    def bits(self, x):
        if x is NAN:
            return self.nan
        sign = int(x.negative) << (self.width - 1)
        if x.infinite:
            return sign | (2 ** (self.width - self.p) - 1) << (self.p - 1)
        a, e = abs(x.value), self.emin
        if a < F(2) ** self.emin:
            return sign | int(a / self.ulp0)
        while F(2) ** (e + 1) <= a:
            e += 1
        return sign | (e - self.emin + 1) << (self.p - 1) | int(a / F(2) ** (e - self.p + 1)) - 2 ** (self.p - 1)

    def text(self, x):
        if x is NAN:
            return "nan"
        if x.infinite:
            return "-inf" if x.negative else "inf"
        if x.value == 0:
            return "-0" if x.negative else "0"
        t = repr(float(x.value))
        return t[:-2] if t.endswith(".0") else t

    def reciprocal(self, n):
        x = FLOAT64.round(F(1, n), False)
        if self.name != "float64":
            x = FLOAT32.round(x.value, False)
        return self.round(x.value, False)

    def sample(self, rnd, theme):
        if theme == "special":
            return rnd.choice([NAN, Num(0), Num(0, True), Num(0, False, True), Num(0, True, True),
                               Num(1), Num(-self.largest), Num(self.ulp0)]
                              if self.name != "float8_e4m3fn" else
                              [NAN, Num(0), Num(0, True), Num(1), Num(self.largest), Num(self.ulp0)])
        m = rnd.choice([1, -1]) * F(rnd.randrange(1, 2 ** self.p))
        if theme == "small":
            return Num(m * self.ulp0)
        if theme == "large":
            return self.round(m * F(2) ** (self.emax - self.p - rnd.randrange(2)), m < 0)
        if theme == "tie":  # 1, and halves and quarters of its last place
            return Num(rnd.choice([F(1), F(-1), F(2) ** -self.p, 3 * F(2) ** -self.p, F(2) ** (-self.p - 1)])
                       if self.p > 4 or self.name == "float8_e5m2" else
                       rnd.choice([F(1), F(-1), F(1, 16), F(3, 16), F(1, 32)]))
        return self.round(m * F(2) ** (rnd.randrange(-3, 2) - self.p + 1), m < 0)


class Integer:
    saturates = False

    def __init__(self, name):
        self.name, self.signed = name, name[0] == "i"
        self.width = int(name.strip("uint"))

    def wrap(self, x):
        x %= 2 ** self.width
        return x - 2 ** self.width if self.signed and x >= 2 ** (self.width - 1) else x

    def add(self, x, y):
        return self.wrap(x + y)

    def mul(self, x, y):
        return self.wrap(x * y)

    def div(self, x, n):
        return abs(x) // n * (1 if x >= 0 else -1)

    def pick(self, x, y, greater):
        return max(x, y) if greater else min(x, y)

    def bits(self, x):
        return x % 2 ** self.width

    def text(self, x):
        return str(x)

    def sample(self, rnd, theme):
        top = 2 ** (self.width - 1)
        if theme in ("large", "special"):
            return self.wrap(top - rnd.randrange(-3, 3))
        return self.wrap(rnd.randrange(-9, 100) if theme != "tie" else rnd.randrange(2 ** self.width))


FLOAT64, FLOAT32 = Float("float64"), Float("float32")


class Operator:
    """What sources, their scale, and the end of a sum mean."""

    def __init__(self, t, op, factor, ranks, wide):
        self.t, self.op, self.n = t, op, ranks
        self.wide = wide and isinstance(t, Float) and t.width < 32
        self.work = FLOAT32 if self.wide else t
        self.factor = None
        if op == "premulsum":
            self.factor = t.round(F(factor), factor < 0) if isinstance(t, Float) else factor
        if op == "avg" and isinstance(t, Float):
            self.factor = t.reciprocal(ranks)

    def source(self, x):
        return self.work.mul(x, self.factor) if self.factor is not None else x

    def two(self, x, y):
        if self.op == "prod":
            return self.work.mul(x, y)
        if self.op in ("min", "max"):
            return self.work.pick(x, y, self.op == "max")
        return self.work.add(x, y)

    def end(self, x):
        if self.op == "avg-post" or self.op == "avg" and self.factor is None:
            return self.work.div(x, self.n)
        return x

    def close(self, x):
        """The end of a step that computes: what goes into memories and messages."""
        if not self.wide:
            return x
        if x is NAN or x.infinite:
            return self.t.settle(x)
        return self.t.round(x.value, x.negative)

    def sent(self, x):
        """An input that is only sent: scaled, it is a step that computes."""
        return self.close(self.source(x)) if self.factor is not None else x


def in_turn(o, xs):
    """A chain: the first is sent, each next one adds its own to what has come."""
    v = o.sent(xs[0])
    for i, x in enumerate(xs[1:]):
        v = o.two(v, o.source(x))
        if i == len(xs) - 2:
            v = o.end(v)
        v = o.close(v)
    return v


def at_once(o, xs):
    v = o.source(xs[0])
    for x in xs[1:]:
        v = o.two(v, o.source(x))
    return o.close(o.end(v))


def pairs(o, xs):
    v = [o.sent(x) for x in xs]
    while len(v) > 1:
        last = len(v) == 2
        v = [o.two(v[i], v[i + 1]) for i in range(0, len(v), 2)]
        v = [o.close(o.end(x) if last else x) for x in v]
    return v[0]


def exact(t, op, factor, xs):
    """The definition: the exact result, rounded once; infinities and NaN as floats have them."""
    n = len(xs)
    if isinstance(t, Integer):
        return at_once(Operator(t, op, factor, n, False), xs)
    if op in ("min", "max"):
        return at_once(Operator(t, op, factor, n, False), xs)
    f = Operator(t, op, factor, n, False).factor if op == "premulsum" else Num(1)
    if op == "prod":
        negative, total, infinite = False, F(1), False
        for x in xs:
            if x is NAN:
                return NAN
            negative ^= x.negative
            infinite |= x.infinite
            total *= x.value if not x.infinite else 1
        if infinite:
            return t.settle(Num(0, negative, True)) if total else NAN
        return t.round(total, negative)
    signs, total, zeros = set(), F(0), True
    for x in xs:
        if x is NAN:
            return NAN
        negative = x.negative != f.negative
        if x.infinite:
            if not f.value:
                return NAN
            signs.add(negative)
        total += x.value * f.value if not x.infinite else 0
        zeros &= negative and not x.infinite
    if signs:
        return NAN if len(signs) == 2 else t.settle(Num(0, signs.pop(), True))
    if op.startswith("avg"):
        total /= n
    return t.round(total, total < 0 or total == 0 and zeros)


def cut(count, parts):
    sizes = [count // parts + (i < count % parts) for i in range(parts)]
    return [(sum(sizes[:i]), sizes[i]) for i in range(parts)]


def rotate(xs, by):
    by %= len(xs)
    return xs[by:] + xs[:by]


def result(plan, o, ins, root):
    n, count = len(ins), len(ins[0])
    column = lambda i: [row[i] for row in ins]
    if plan == "all_reduce ring":
        out = [None] * count
        for c, (off, size) in enumerate(cut(count, n)):
            for i in range(off, off + size):
                out[i] = in_turn(o, rotate(column(i), c))
        return [out] * n
    if plan == "all_reduce doubling":
        return [[pairs(o, column(i)) for i in range(count)]] * n
    if plan == "all_reduce one-shot":
        return [[at_once(o, column(i)) for i in range(count)]] * n
    if plan == "reduce_scatter ring":
        size = count // n
        return [[in_turn(o, rotate(column(r * size + i), r + 1)) for i in range(size)] for r in range(n)]
    if plan == "reduce chain":
        out = [in_turn(o, rotate(column(i), root)[:0:-1] + [ins[root][i]]) for i in range(count)]
        return [out if r == root else [] for r in range(n)]
    raise ValueError(plan)


def copied(plan, ins, root, n):
    if plan == "all_gather ring" or plan == "all_gather put":
        return [sum(ins, [])] * n
    if plan == "broadcast binomial":
        return [ins[root]] * n
    if plan == "gather flat":
        return [sum(ins, []) if r == root else [] for r in range(n)]
    if plan == "scatter flat":
        k = len(ins[root]) // n
        return [ins[root][r * k:(r + 1) * k] for r in range(n)]
    if plan == "all_to_all direct":
        k = len(ins[0]) // n
        return [sum((ins[s][r * k:(r + 1) * k] for s in range(n)), []) for r in range(n)]
    if plan == "send_recv shift":
        return [ins[r - 1] for r in range(n)]
    raise ValueError(plan)


def write(file, t, plan, ins, root, outs, op="", more="", define=None):
    file.write(f"run {plan} {t.name} root={root}{' op=' + op if op else ''}{more}\n")
    for row in ins:
        file.write(" ".join(t.text(x) for x in row) + " .\n")
    file.write("----\n")
    show = lambda x: f"{t.bits(x):0{t.width // 4}x}={t.text(x)}"
    for row in outs:
        file.write(" ".join(show(x) for x in row) + " .\n")
    if define:
        for row in define:
            file.write("exactly " + " ".join(show(x) for x in row) + " .\n")
    file.write("\n")


def vectors(t, seed):
    rnd = random.Random(seed)
    themes = ["plain", "tie", "small", "large", "special", "plain"]
    total = 0
    with open(t.name + ".txt", "w") as file:
        file.write(f"# Golden vectors of {t.name}, worked out by golden.py with Python's fractions, not by\n"
                   "# collsim: never rewrite them with it. A line a rank: its input, ended by a dot; then its\n"
                   "# output, as bits=decimal, in the plan's order of operations; then what the definition\n"
                   "# gives: the exact result, rounded once.\n\n")
        narrow = isinstance(t, Float) and t.width < 32
        plans = [("all_reduce ring", 3, 6), ("all_reduce ring", 4, 6), ("all_reduce doubling", 4, 6),
                 ("all_reduce one-shot", 5, 6), ("reduce_scatter ring", 3, 6), ("reduce chain", 4, 6)]
        turn = 0
        for op in ["sum", "prod", "min", "max", "avg", "avg-post", "premulsum"]:
            for again in range(3):
                plan, n, count = plans[turn % len(plans)]
                turn += 1
                wide = narrow and again == 2 and op not in ("min", "max")
                factor = 0
                if op == "premulsum":
                    factor = rnd.choice([F(1, 2), F(-3), F(3, 8)] if isinstance(t, Float) else [2, 3, 5])
                root = rnd.randrange(n) if plan.startswith("reduce ") else 0
                if wide and plan == "all_reduce doubling" and op in ("avg", "premulsum"):
                    plan = "all_reduce one-shot"
                ins = [[t.sample(rnd, themes[i % len(themes)]) for i in range(count)] for _ in range(n)]
                if op == "prod" and isinstance(t, Integer):
                    ins = [[x | 1 for x in row] for row in ins]
                o = Operator(t, op, factor, n, wide)
                outs = result(plan, o, ins, root)
                ideal = [exact(t, op, factor, [row[i] for row in ins]) for i in range(count)]
                more = f"({float(factor):g})" if op == "premulsum" else ""
                write(file, t, plan, ins, root, outs, op + more, " accumulate=float32" if wide else "",
                      define=[ideal])
                total += 1
        for plan in ["all_gather ring", "broadcast binomial", "gather flat", "scatter flat",
                     "all_to_all direct", "send_recv shift", "all_gather put"]:
            n = rnd.choice([2, 3])
            root = rnd.randrange(n) if plan.split()[0] in ("broadcast", "gather", "scatter") else 0
            count = 2 * n if plan.split()[0] in ("scatter", "all_to_all") else 2
            ins = [[t.sample(rnd, rnd.choice(themes)) for _ in range(count)] for _ in range(n)]
            if plan.split()[0] in ("broadcast", "scatter"):
                ins = [row if r == root else [] for r, row in enumerate(ins)]
            write(file, t, plan, ins, root, copied(plan, ins, root, n))
            total += 1
    return total


if __name__ == "__main__":
    names = list(FLOATS) + [f"{u}int{w}" for u in ("", "u") for w in (8, 16, 32, 64)]
    print(sum(vectors((Float if n in FLOATS else Integer)(n), i) for i, n in enumerate(names)), "cases")
