import os
W=os.environ['WORK']
L=W+'/lib.so'
MODS={n:(L,W+'/'+n) for n in ('now','X','T')}
PROTO=[]
C='attention__bf16_'
t3='512_384_32_160'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order,m,rest): return [f'{C}{order}_{m}_false_{head}_4_{rest}']
    m={'c':1,'w':2}[mask]
    if (head,m)==(64,1):
        if name=='X': return s('FromEnd',1,f'192_128_2_3_{t3}_3_true')
        if name=='T': return s('FromEnd',1,f'192_128_2_3_{t3}_3_false')
        return s('FromEnd',1,f'192_128_2_3_{t3}_3_false') if tokens>=2048 else s('LastFirst',1,f'128_128_2_2_{t2}_false')
    if (head,m)==(128,1):
        return s('FromEnd',1,f'192_80_2_2_{t3}_0_true') if tokens>=4096 else s('LastFirst',1,f'128_128_2_2_{t2}_false')
    if head==256: return s('LastFirst',2,f'128_64_1_2_{t2}_true')
    if head==128:
        return s('LastFirst',2,f'128_128_2_2_{t2}_false') if name=='T' or before<1536 else s('FromEnd',2,f'192_80_2_2_{t3}_0_true')
    if name=='T': return s('LastFirst',2,f'128_128_2_2_{t2}_false')
    if name=='X': return s('FromEnd',2,f'192_64_2_5_{t3}_0_true') if before<896 else s('FromEnd',2,f'192_128_2_3_{t3}_3_true')
    return s('FromEnd',2,f'192_64_2_5_{t3}_0_true') if before<768 else s('FromEnd',2,f'192_128_2_3_{t3}_0_true')
CELLS=eval(os.environ['CELLS'])
