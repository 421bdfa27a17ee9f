"""Whether cuDNN's gradients of attention are the same bits in each run."""
# PEERS is bench/peers.
import sys, os
sys.path.insert(0, os.environ['PEERS'])
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
torch.manual_seed(1)
for heads, tokens, head, causal in ((32, 4096, 128, False), (32, 4096, 128, True), (16, 16384, 128, False)):
    q, k, v = (torch.randn(1, heads, tokens, head, device='cuda', dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    d = torch.randn_like(q)
    def run():
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return torch.autograd.grad(out, (q, k, v), d)
    first = run(); same = [True] * 3
    for _ in range(20):
        for i, (a, b) in enumerate(zip(first, run())): same[i] &= bool(torch.equal(a, b))
    print('causal' if causal else 'full', tokens, 'tokens', heads, 'heads of', head, 'same bits in 20 runs: queries, keys, values', same, flush=True)
