"""Times products beside cuBLAS: products.py ROUNDS SUSTAINED SEED ROWSxCOLUMNSxK:WIDTH;.. NAME=MODULE ..

DTYPE is bf16 or f16; ratios to the twin are those to the contestant whose name begins so."""
# PEERS is bench/peers, LIB the library of `cargo build --release -p tilepipe-bench-c`. A module is a folder with the PTX and
# machine code of kernels and their manifest, as `cargo xtask ptx` writes them; the twin's entries have gemm's names in its own.
import sys, time, random, statistics as st, os
sys.path.insert(0, os.environ['PEERS'])
import torch, torch_tasks
from torch_libraries import Tilepipe, view
rounds, sus, seed = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
cases = [(tuple(map(int, c.split(':')[0].split('x'))), c.split(':')[1].split(',')) for c in sys.argv[4].split(';')]
random.seed(seed); torch.manual_seed(seed)
lib = os.environ['LIB']
torch.zeros(1, device='cuda')
mods = {}
for m in sys.argv[5:]:
    name, folder = m.split('='); mods[name] = Tilepipe(lib, folder)
try:
    import pynvml; pynvml.nvmlInit(); H = pynvml.nvmlDeviceGetHandleByIndex(0)
except Exception: H = None
DT = os.environ.get('DTYPE', 'bf16')
dtype = {'bf16': torch.bfloat16, 'f16': torch.float16}[DT]
class B: pass
def contestant(mod, w, R, C, K):
    b = B(); b.tilepipe = mods[mod]
    if w.startswith('p'): return torch_tasks.our_product_in_parts(b, DT, 'nt', int(w[1:]), R, C)
    return torch_tasks.our_product(b, DT, 'nt', int(w), R, C)
def graph(run, sets, reps):
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for i in range(min(3, len(sets))): run(sets[i])
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=s):
        for i in range(reps): run(sets[i % len(sets)])
    return g
e = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
for (R, C, K), ws in cases:
    size = 2 * (R*K + C*K + R*C); n = max(2, -(-4 * 60_000_000 // size)); n = min(n, 64)
    sets = [torch_tasks.factors((R, C, K), dtype, 'nt') for _ in range(n)]
    ref = torch.matmul(sets[0]['a'], sets[0]['b'].t()); refd = ref.float()
    runs = {'cublas': lambda t: torch.matmul(t['a'], t['b'].t(), out=t['out'])}
    for name in mods:
        for w in ws:
            w, _, of = w.partition('@')
            if of and name not in of.split('+'): continue
            try:
                c = contestant(name, w, R, C, K); c.prepare(sets[0])
                sets[0]['out'].fill_(float('nan')); c.run(sets[0]); mods[name].synchronize()
            except Exception as x:
                print('  left out', name, w, str(x)[:200]); continue
            d = sets[0]['out'].float(); bad = int((~((d - refd).abs() <= 0.02 * refd.abs() + 0.02 * K**0.5)).sum())
            if bad: print('  BAD', name, w, bad); continue
            runs[f'{name} {w}'] = c.run
    one = max(2 * R * C * K / 700e12, 5e-6)
    for mode, ms, rr in (('burst', 1.5e-3, rounds), ('sustained', 15e-3, sus)):
        if rr == 0: continue
        reps = max(1 if mode == 'burst' else 2, min(2000, round(ms / one)))
        gs = {k: graph(r, sets, reps) for k, r in runs.items()}
        for g in gs.values(): g.replay()
        torch.cuda.synchronize()
        T = {k: [] for k in gs}; clk = []; pw = []
        for r in range(rr):
            order = list(gs); random.shuffle(order)
            for k in order:
                if mode == 'burst': time.sleep(0.012 if one < 5e-3 else 0.1)
                else: gs[k].replay()
                e[0].record(); gs[k].replay(); e[1].record()
                if mode == 'sustained' and H is not None:
                    try: clk.append(pynvml.nvmlDeviceGetClockInfo(H, 1)); pw.append(pynvml.nvmlDeviceGetPowerUsage(H) / 1000)
                    except Exception: pass
                torch.cuda.synchronize(); T[k].append(e[0].elapsed_time(e[1]) / reps * 1000)
        print(f'{DT} nt {R}x{C}x{K} {mode}' + (f' clocks {min(clk)}..{max(clk)} power {min(pw):.0f}..{max(pw):.0f}' if clk else ''), flush=True)
        for k in gs:
            q = [c / t for c, t in zip(T['cublas'], T[k])]
            tw = next((x for x in T if x.startswith('twin')), None)
            extra = f'  of twin {st.median([a / b for a, b in zip(T[tw], T[k])]):.4f}' if tw else ''
            print(f'    {k:22s} {st.median(T[k]):9.3f} us  {st.median(q):.4f}{extra}', flush=True)
        del gs
    del sets, ref, refd; torch.cuda.empty_cache()
