"""Times attention: attention.py ROUNDS SEED CELLS, where CELLS is a file as cells.py. MODE=sustained leaves out the pauses.

PEERS is bench/peers, and WORK a folder with what cells.py names (libraries of `cargo build --release -p tilepipe-bench-c`, and
folders of modules as `cargo xtask ptx --kernel attention` writes them; the twin's has the safe kernel's names and contracts), the
prototype's machine code and a library of launch.cu."""
import sys, os, time, random, statistics as st, ctypes, math
sys.path.insert(0, os.environ['PEERS'])
import torch, torch_tasks, torch_attention as ta, torch_masks as tm
from torch_libraries import Tilepipe, matrices, view, constant, nothing
from torch.nn.attention import SDPBackend
PAUSE = float(os.environ.get('PAUSE', '0.01')); SUS = os.environ.get('MODE') == 'sustained'
rounds, seed = int(sys.argv[1]), int(sys.argv[2]); random.seed(seed); torch.manual_seed(seed); torch.zeros(1, device='cuda')
exec(open(sys.argv[3]).read())
mods = {n: Tilepipe(l, f) for n, (l, f) in MODS.items()}
SM = torch.cuda.get_device_properties(0).multi_processor_count
e = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
PL = None
def proto_lib():
    global PL, PM
    if PL is None:
        PL = ctypes.CDLL(os.environ['WORK'] + '/liblaunch.so'); U = ctypes.c_ulonglong; I = ctypes.c_int; u = ctypes.c_uint
        PL.tl_launch.argtypes = [I]*4+[U, ctypes.c_void_p]+[u]*5+[ctypes.c_float, U]; PL.tl_map2.argtypes = [ctypes.c_void_p, U]+[I]*5
        PM = PL.tl_load((os.environ['WORK'] + '/proto.cubin').encode()); assert PM >= 0
    return PL
CTR = torch.zeros(64, dtype=torch.int32, device='cuda')
def proto(name, cell, t):
    import re
    head, mask, tokens, heads, before = cell
    m = re.match(r'([amghb])(\d+)([fc])(\d*)(?:q(\d))?(?:s(\d))?$', name)
    d = 128 if m[1] in 'am' else 256 if m[1] == 'b' else 64; M = 2 if m[1] in 'agb' else 3; bn = int(m[2]); qs = int(m[5] or (1 if d == 256 else 2)); stg = int(m[6] or 2)
    if d != head or m[3] != mask: return None
    smem = 2*stg*bn*d*2+M*qs*64*d*2+512+1024; L = proto_lib(); f = L.tl_fn(PM, name.encode(), smem); assert f >= 0
    maps = (ctypes.c_char*512)(); p = ctypes.addressof(maps)
    for i, (x, r) in enumerate(((t['q'], 64), (t['k'], bn), (t['v'], bn), (t['out'], 64))): assert L.tl_map2(p+128*i, x.data_ptr(), heads, tokens, d, r, heads*d) == 0
    nblk = -(-tokens // (64*M)); sec = max(1, 32*2**20//(tokens*d*4)); sec = 1 << (sec.bit_length()-1)
    if mask == 'c': sec = max(sec, 32)
    while heads % min(sec, heads): sec //= 2
    sec = min(sec, heads); total = nblk*heads; scale = (1/math.sqrt(d))*math.log2(math.e)
    def run(_=None): assert L.tl_launch(f, min(SM, total), 128*(M+1), smem, torch.cuda.current_stream().cuda_stream, p, nblk, sec, total, tokens, 1, scale, CTR.data_ptr()) == 0
    run.keep = maps
    return run
def ours(name, symbol, cell):
    head, mask, tokens, heads, before = cell; m = mods[name]
    import re
    rows = int(re.search(r'_(\d+)_(\d+)_\d_\d_\d+_\d+_\d+_\d+_\d+(?:_true|_false)?$', symbol)[1])
    tiles = -(-tokens // rows) * heads; grid = min(tiles, SM)
    scale = (ctypes.c_float * 1)(math.log2(math.e) / math.sqrt(head))
    b = before if mask == 'w' else tokens
    band = (ctypes.c_int64 * 1)(b | ((tokens if mask == 'f' else 0) << 32)); shaped = ((ctypes.c_float * 257) * 1)()
    flat = f'_{head}_2_{rows}_' in symbol
    def h(x, o): return view(x, o) if flat else matrices(x, o, tokens, head)
    def run(t): m.launch(symbol, grid, [*[h(t[k], False) for k in 'qkv'], *map(constant, (scale, band, shaped)), h(t['out'], True), nothing()])
    run.keep = (scale, band, shaped)
    return run
for cell in CELLS:
    head, mask, tokens, heads, before = cell; shape = (tokens, heads, heads, head)
    sets = [ta.tensors_of(shape) for _ in range(2)]; runs = {}
    if mask != 'w':
        lib = ta.of_torch('cuDNN', SDPBackend.CUDNN_ATTENTION, shape, mask == 'c')
        for t in sets: lib.prepare(t)
        runs['cudnn'] = lib.run; base = 'cudnn'
    exact = None
    for name in MODS:
        for symbol in SYM(name, cell) or []:
            key = name + ':' + '_'.join(symbol.split('_')[-9:]); runs[key] = ours(name, symbol, cell)
    for name in PROTO:
        p = [proto(name, cell, t) for t in sets]
        if p[0]: runs['P ' + name] = (lambda p: lambda t: p[0 if t is sets[0] else 1]())(p)
    ref = None
    for k, r in runs.items():
        if k == 'cudnn': continue
        for t in sets: t['out'].fill_(float('nan')); r(t)
        torch.cuda.synchronize()
        if tokens * heads <= 2048 * 64 or mask == 'w':
            if exact is None: exact = tm.exact(sets[0], head, [0, tokens], before) if mask == 'w' else ta.exact(sets[0], shape, mask == 'c')
            bad = ta.far_off(sets[0]['out'], exact)
            if bad: print('  BAD', k, bad)
        if not bool(torch.isfinite(sets[0]['out'].float()).all()): print('  NOT FINITE', k)
        if not k.startswith('P'): ref = k if ref is None else ref
    pairs = tokens * tokens * (0.5 if mask == 'c' else 1) if mask != 'w' else tokens * min(before, tokens) * 1.0
    one = 4 * heads * pairs * head / 500e12
    reps = max(2, round(0.08 / one)) if SUS else max(2, min(60, round(3e-3 / one)))
    T = {k: [] for k in runs}
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
            e[1].record(); torch.cuda.synchronize(); T[k].append(e[0].elapsed_time(e[1]) / reps * 1000)
    base = 'cudnn' if 'cudnn' in runs else ref
    print(f"{cell}: " + '; '.join(f"{k} {st.median(T[k]):.2f} us ({st.median([a / b for a, b in zip(T[base], T[k])]):.4f})" for k in runs), flush=True)
    del sets, runs; torch.cuda.empty_cache()
