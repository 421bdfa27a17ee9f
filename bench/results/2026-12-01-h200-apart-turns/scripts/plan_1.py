import os
W=os.environ['WORK']
L=W+'/lib.so'
MODS={n:(L,W+'/'+n) for n in os.environ['MODS'].split()}
PROTO=[]
C='attention__bf16_'
t3='512_384_32_160'; t2='384_256_24_240_0_false'
ONLY=dict(x.split('=') for x in os.environ.get('ONLY','').split())
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(x): return [f'{C}FromEnd_1_false_64_4_192_128_2_3_{t3}_{x}']
    if name=='T': return s('3_false')
    if name=='v_all': return s('3_false')+s('0_true')+([f'{C}LastFirst_1_false_64_4_128_128_2_2_{t2}'] if tokens<2048 else [])
    forms=ONLY.get(name,'3_true').split(',')
    return [y for f in forms for y in s(f)]
CELLS=eval(os.environ['CELLS'])
