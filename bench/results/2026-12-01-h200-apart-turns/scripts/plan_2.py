import os
W=os.environ['WORK']
L=W+'/lib.so'
MODS={'now':(W+'/lib.so',W+'/now'),'X':(L,W+'/X'),'T':(L,W+'/T')}
PROTO=[]
C='attention__bf16_'
t3='512_384_32_160'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order,m,rest): return [f'{C}{order}_{m}_false_{head}_4_{rest}']
    m={'c':1,'w':2}[mask]
    if head==256:
        return s('LastFirst',2,f'128_64_1_2_{t2}_true') if name!='T' else s('LastFirst',2,f'128_64_1_2_{t2}_true')
    small=s('LastFirst',m,f'128_128_2_2_{t2}_false')
    if (head,m)==(64,1):
        big=s('FromEnd',1,f'192_128_2_3_{t3}_3_false')
        if name=='now': return big+small
        if name=='X': return s('FromEnd',1,f'192_128_2_3_{t3}_3_true')+s('FromEnd',1,f'192_128_2_3_{t3}_0_true')
        return big+small
    if (head,m)==(128,1):
        if name=='now': return s('FromEnd',1,f'192_80_2_2_{t3}_0_true')+small
        if name=='X': return s('FromEnd',1,f'192_80_2_2_{t3}_0_true')
        return s('FromEnd',1,f'192_80_2_2_{t3}_0_true')+small
    forms=['192_128_2_3','192_64_2_5'] if head==64 else ['192_80_2_2']
    if name=='T': return small
    out=[]
    for f in forms:
        out+=s('FromEnd',2,f'{f}_{t3}_0_true')
        if name=='X' and head==64: out+=s('FromEnd',2,f'{f}_{t3}_3_true')
    if name=='now' and head==128: out+=small
    return out
CELLS=eval(os.environ['CELLS'])
