# Times kernels and their twins with many numbers of blocks. In the folder: the cubins of
# `cargo xtask ptx --arch sm_90`, of the twins, and `build_x/` with shapes.cubin and bulk.cubin of bench/peers.
import ctypes, random, torch
torch.cuda.init(); torch.zeros(1, device='cuda')
cu = ctypes.CDLL('libcuda.so.1')
def mod(path):
    m = ctypes.c_void_p()
    r = cu.cuModuleLoad(ctypes.byref(m), path.encode()); assert r == 0, (path, r)
    return m
def fn(m, name):
    f = ctypes.c_void_p(); r = cu.cuModuleGetFunction(ctypes.byref(f), m, name.encode()); assert r == 0, (name, r)
    return f
N = 1 << 28
x = torch.randint(-1000, 1000, (N,), dtype=torch.int32, device='cuda'); y = torch.empty_like(x)
class P(ctypes.Structure): _fields_ = [('p', ctypes.c_uint64), ('n', ctypes.c_uint64), ('a', ctypes.c_uint64), ('b', ctypes.c_uint64)]
pi, po = P(x.data_ptr(), N, 1, N), P(y.data_ptr(), N, 1, N)
args = (ctypes.c_void_p * 2)(ctypes.addressof(pi), ctypes.addressof(po))
def launch(f, grid, threads, shared):
    r = cu.cuLaunchKernel(f, grid, 1, 1, threads, 1, 1, shared, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), args, None); assert r == 0, r
shapes, bulk = mod('build_x/shapes.cubin'), mod('build_x/bulk.cubin')
roles = mod('tilepipe-kernels.with_specialized_staging_unified_wide.sm_90.cubin')
avg = mod('tilepipe-kernels.moving_average_bulk.sm_90.sm_90.cubin')
tw = mod('tilepipe-twins.twin_moving_average_bulk.sm_90.sm_90.cubin')
st = mod('tilepipe-kernels.with_staging_unified_wide.sm_90.sm_90.cubin')
K = 'tilepipe_kernels$'
def times(cont, R=7):
    t = {k: [] for k, _ in cont}; cont = list(cont)
    for r in range(R + 1):
        random.shuffle(cont)
        for k, (f, g, th, sh) in cont:
            launch(f, g, th, sh)
            s, e = torch.cuda.Event(True), torch.cuda.Event(True)
            s.record(); launch(f, g, th, sh); e.record(); e.synchronize()
            if r: t[k].append(s.elapsed_time(e))
    return sorted((sorted(v)[len(v) // 2], k) for k, v in t.items())
GR = [528, 660, 792, 924, 1056, 1320, 1584, 2112, 3168, 4224, 6336, 8448, 16896, 33792]
def show(title, c):
    print('##', title)
    for ms, k in times(c): print('  %.4f %s' % (ms, k), flush=True)
for S in (2, 4):
    o = fn(roles, K + 'with_specialized_staging_unified_wide__i32_GroupSum_256_128_512_%d' % S)
    h = fn(shapes, 'even_odd_hand_256_4_%d' % S)
    show('even/odd %d' % S, [(('ours', g), (o, g, 256, S * 2048 + 16 * S)) for g in GR] + [(('hand', g), (h, g, 256, 0)) for g in GR])
for S in (2, 4):
    o = fn(avg, K + 'moving_average_bulk__i32_256_%d' % S); h = fn(bulk, 'engine_average_256_256_%d' % S); t = fn(tw, 'twin_moving_average_bulk__i32_256_%d' % S)
    sh = S * 1088 + 8 * S
    show('average bulk %d' % S, [(('ours', g), (o, g, 256, sh)) for g in (528, 1056, 2112, 4224)] + [(('hand', g), (h, g, 256, sh)) for g in (528, 1056, 2112, 4224)] + [(('twin', g), (t, g, 256, sh)) for g in (528, 1056, 2112, 4224)])
for S in (1, 2, 4):
    o = fn(st, K + 'with_staging_unified_wide__i32_GroupSum_Bulk_128_512_%d' % S); h = fn(bulk, 'engine_stream_128_512_%d' % S)
    sh = S * 2048 + 8 * S
    show('stream bulk 2 KiB %d' % S, [(('ours', g), (o, g, 128, sh)) for g in (2112, 4224, 524288)] + [(('hand', g), (h, g, 128, sh)) for g in (2112, 4224, 524288)])
