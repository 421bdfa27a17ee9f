import os
W=os.environ['WORK']
L=W+'/lib.so'
MODS={n:(L,W+'/'+n) for n in os.environ.get('WHO','now,X,T').split(',')}
PROTO=[]
C='attention__bf16_'
t3='512_384_32_160'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order,m,rest,array=4): return [f'{C}{order}_{m}_false_{head}_{array}_{rest}']
    if mask=='f':
        mp=132; rr=lambda r: -(-(-(-tokens//r)*heads)//mp)*r
        if head==256: return s('Grouped_1024_',0,f'128_64_1_2_{t2}_false')
        long=rr(192)<{64:1.15,128:1.06}[head]*rr(128)
        if head==64 and tokens<1024: long=False
        if head==64: return s('Grouped_1024_',0,f'192_128_2_3_{t3}_3_false', 4 if name=='T' else 2) if long else s('Grouped_1024_',0,f'128_208_2_2_{t2}_false')
        return s('Grouped_1024_',0,f'192_80_2_2_{t3}_0_false') if long else s('Grouped_1024_',0,f'128_128_2_2_{t2}_false')
    if mask=='c':
        if head==64: return s('FromEnd',1,f'192_128_2_3_{t3}_3_true') if tokens>512 else s('LastFirst',1,f'128_128_2_2_{t2}_false')
        if head==128: return s('FromEnd',1,f'192_80_2_2_{t3}_0_true') if tokens>=4096 else s('LastFirst',1,f'128_128_2_2_{t2}_false')
        return s('LastFirst',2,f'128_64_1_2_{t2}_true')
    if head==256: return s('LastFirst',2,f'128_64_1_2_{t2}_true')
    if head==128: return s('LastFirst',2,f'128_128_2_2_{t2}_false') if name=='T' or before<1536 else s('FromEnd',2,f'192_80_2_2_{t3}_0_true')
    if name=='T': return s('LastFirst',2,f'128_128_2_2_{t2}_false')
    return s('FromEnd',2,f'192_64_2_5_{t3}_0_true') if before<896 else s('FromEnd',2,f'192_128_2_3_{t3}_3_true')
S0=SYM
def SYM(name, cell):
    head,mask,tokens,heads,before=cell
    if head==64 and mask=='c':
        if name!='now' and name!='T': return s64(1,tokens>256)
        if name=='now': return s64(1,tokens>512)
        return s64(1,tokens>512) if tokens!=512 and tokens!=384 else s64(1,True)
    if head==64 and mask=='f':
        mp=132; rr=lambda r: -(-(-(-tokens//r)*heads)//mp)*r
        long=rr(192)<1.15*rr(128)
        if name=='now' and tokens<1024: long=False
        return [f'{C}Grouped_1024__0_false_64_{4 if name=="T" else 2}_192_128_2_3_{t3}_3_false'] if long else [f'{C}Grouped_1024__0_false_64_4_128_208_2_2_{t2}_false']
    return S0(name,cell)
def s64(m,long): return [f'{C}FromEnd_{m}_false_64_4_192_128_2_3_{t3}_3_true'] if long else [f'{C}LastFirst_{m}_false_64_4_128_128_2_2_{t2}_false']
CELLS=eval(os.environ['CELLS'])
