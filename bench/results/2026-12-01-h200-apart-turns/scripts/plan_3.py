import os
W=os.environ['WORK']
L=W+'/lib.so'
MODS={n:(L,W+'/'+n) for n in ('now','X','X2','T')}
PROTO=[]
C='attention__bf16_'
t3='512_384_32_160'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order,m,rest): return [f'{C}{order}_{m}_false_{head}_4_{rest}']
    m={'c':1,'w':2}[mask]
    small=s('LastFirst',m,f'128_128_2_2_{t2}_false')
    if m==1:
        big=s('FromEnd',1,f'192_128_2_3_{t3}_3_false')
        if name in ('now','T'): return big+small
        return s('FromEnd',1,f'192_128_2_3_{t3}_3_true')
    if name=='T': return small
    if name=='now': return s('FromEnd',2,f'192_128_2_3_{t3}_0_true')+s('FromEnd',2,f'192_64_2_5_{t3}_0_true')
    return s('FromEnd',2,f'192_128_2_3_{t3}_3_true')+s('FromEnd',2,f'192_64_2_5_{t3}_0_true')
CELLS=eval(os.environ['CELLS'])
