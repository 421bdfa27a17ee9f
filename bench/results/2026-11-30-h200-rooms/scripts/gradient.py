"""Times gradients of attention beside cuDNN: gradient.py ROUNDS SEED HEAD,CAUSAL,TOKENS,HEADS;.. NAME=MODULE ..

The module named `now` has the forward kernel for all; names that begin with u run the unordered gradient. MODE=sustained
leaves out the pauses. ALT names other instances, by name and by what of a symbol they replace."""
# PEERS is bench/peers, LIB the library of `cargo build --release -p tilepipe-bench-c`. A module is a folder with the PTX and
# machine code of kernels and their manifest, as `cargo xtask ptx` writes them; the twin's entries have gemm's names in its own.
import sys, time, random, statistics as st, os
sys.path.insert(0, os.environ['PEERS'])
PAUSE = float(os.environ.get('PAUSE', '0.012'))
import torch, torch_tasks, torch_attention as ta
from torch_libraries import Tilepipe
from torch.nn.attention import SDPBackend
rounds, seed = int(sys.argv[1]), int(sys.argv[2]); cells = [tuple(map(int, c.split(','))) for c in sys.argv[3].split(';')]
random.seed(seed); torch.manual_seed(seed); torch.zeros(1, device='cuda')
mods = {m.split('=')[0]: Tilepipe(os.environ['LIB'], m.split('=')[1]) for m in sys.argv[4:]}
import pynvml; pynvml.nvmlInit(); H = pynvml.nvmlDeviceGetHandleByIndex(0)
e = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
ALT = eval(os.environ.get('ALT', '{}'))
def alt(name, s):
    for a, b in ALT.get(name, {}).items(): s = s.replace(a, b)
    return s
class B: pass
def parts(sets, shape, causal):
    "Times of each kernel alone, by recording events around launches."
    for name, m in mods.items(): one_part(name, m, sets, shape, causal)
def one_part(name, m, sets, shape, causal):
    times = {}
    class D:
        def blocks(self, *a): return m.blocks(*a)
        def launch(self, symbol, *a):
            if symbol.startswith('attention__'): return mods['now'].launch(symbol, *a)
            symbol = alt(name, symbol)
            x = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            x[0].record(); m.launch(symbol, *a); x[1].record(); times.setdefault(symbol.split('__')[0], []).append(x)
    b = B(); b.tilepipe = D(); c = ta.our_gradient(b, shape, causal, name[0] == 'u')
    c.run(sets[0]); torch.cuda.synchronize(); times.clear()
    for _ in range(9): time.sleep(PAUSE); c.run(sets[0]); c.run(sets[0]); torch.cuda.synchronize()
    print(f'    {name} ' + ', '.join(f"{k} {st.median([x[0].elapsed_time(x[1]) * 1000 for x in v]):.1f}" for k, v in times.items()), flush=True)
for head, causal, tokens, heads in cells:
    causal = bool(causal); shape = (tokens, heads, heads, head)
    sets = [ta.tensors_of_gradient(shape) for _ in range(2)]
    runs = {}
    lib = ta.gradient_of_torch('cuDNN', SDPBackend.CUDNN_ATTENTION, shape, causal)
    for t in sets: lib.prepare(t)
    runs['cudnn'] = lib.run
    for name, m in mods.items():
        class D:
            def __init__(self, own, name): self.own, self.name = own, name
            def blocks(self, symbol, *a): return (mods['now'] if symbol.startswith('attention__') else self.own).blocks(symbol, *a)
            def launch(self, symbol, *a): return (mods['now'] if symbol.startswith('attention__') else self.own).launch(alt(self.name, symbol), *a)
        b = B(); b.tilepipe = D(m, name); c = ta.our_gradient(b, shape, causal, name[0] == 'u')
        for t in sets: t['out'].fill_(float('nan')); c.run(t)
        m.synchronize(); torch.cuda.synchronize()
        if tokens <= 4096:
            bad = ta.gradient_far_off(sets[0]['out'], ta.exact_gradient(sets[0], shape, causal), shape)
            if bad: print('  BAD', name, bad)
        elif not bool(torch.isfinite(sets[0]['out'].float()).all()): print('  NOT FINITE')
        runs[name] = c.run
    one = 2.5 * 4 * heads * tokens * tokens * head * (0.5 if causal else 1) / 500e12
    SUS = os.environ.get('MODE') == 'sustained'
    reps = max(2, round(0.08 / one)) if SUS else max(2, min(50, round(3e-3 / one)))
    T = {k: [] for k in runs}; CK = {}
    for k, r in runs.items():
        for t in sets: r(t)
    torch.cuda.synchronize()
    for _ in range(rounds):
        order = list(runs); random.shuffle(order)
        for k in order:
            if SUS:
                for i in range(reps): runs[k](sets[i % 2])
            else: time.sleep(PAUSE); runs[k](sets[0])
            e[0].record()
            for i in range(reps): runs[k](sets[i % 2])
            e[1].record(); CK.setdefault(k, []).append(pynvml.nvmlDeviceGetClockInfo(H, 1)); torch.cuda.synchronize(); T[k].append(e[0].elapsed_time(e[1]) / reps * 1000)
    print(f"{'causal' if causal else 'full'} {tokens} tokens {heads} heads of {head}: " + ', '.join(f"{k} {st.median(T[k]):.1f} us" + (f" of cudnn {st.median([a / b for a, b in zip(T['cudnn'], T[k])]):.4f}" if k != 'cudnn' else '') for k in runs) + ' clocks ' + ', '.join(f'{k} {min(v)}..{max(v)}' for k, v in CK.items()) + f' power {pynvml.nvmlDeviceGetPowerUsage(H)/1000:.0f} temp {pynvml.nvmlDeviceGetTemperature(H, 0)} reasons {pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(H):x}', flush=True)
    if not SUS: parts(sets, shape, causal)
    del sets, runs, lib; torch.cuda.empty_cache()
