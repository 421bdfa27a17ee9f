"""Runs attention with and without clocks: timeline.py MODULE CLOCKED, which writes both warpgroups' events to $OUT/tl.json."""
# PEERS is bench/peers, LIB the library of `cargo build --release -p tilepipe-bench-c`. A module is a folder with the PTX and
# machine code of kernels and their manifest, as `cargo xtask ptx` writes them; the twin's entries have gemm's names in its own.
import sys, os, json, statistics as st
sys.path.insert(0, os.environ['PEERS'])
import torch, torch_attention as ta
from torch_libraries import Tilepipe, view
torch.zeros(1, device='cuda')
ta.rows_of_tile = lambda *a: 128
shape = (4096, 32, 32, 128); T, H = 4096, 32
class B: pass
res = {}
for name, folder in (('plain', sys.argv[1]), ('traced', sys.argv[2])):
    b = B(); b.tilepipe = Tilepipe(os.environ['LIB'], folder)
    big = torch.zeros(H * T + (1 << 20), device='cuda', dtype=torch.float32)
    logs = big[:H * T].view(H, T)
    c = ta.our_attention(b, shape, False, 'out', lambda t: view(logs, True))
    t = ta.tensors_of(shape)
    if 'out' not in t: t['out'] = torch.empty_like(t['q'])
    print(name, c)
    if hasattr(c, 'prepare'): c.prepare(t)
    ts = []
    for _ in range(30):
        e = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        e[0].record(); c.run(t); e[1].record(); torch.cuda.synchronize(); ts.append(e[0].elapsed_time(e[1]) * 1000)
    print(name, 'us', st.median(ts))
    if name == 'traced':
        raw = big[H * T:].view(torch.int32).cpu()
        for g in range(2):
            part = raw[g * 262144:(g + 1) * 262144].view(-1, 2)
            n = int((part[:, 0] != 0).sum()); res[g] = part[:n].tolist()
            print('group', g, n, 'events')
json.dump(res, open(os.environ['OUT'] + '/tl.json', 'w'))
