import os
W=os.environ['WORK']
MODS={'before':(W+'/lib_main.so',W+'/now'),'ours':(W+'/lib_new.so',W+'/E'),'F':(W+'/lib_main.so',W+'/F1'),'F ':(W+'/lib_new.so',W+'/F1'),'F a':(W+'/lib_A.so',W+'/F1'),'twin':(W+'/lib_main.so',W+'/T'),'twin ':(W+'/lib_new.so',W+'/T')}
PROTO=[]
C='attention__bf16_'
t3='512_384_32_160_0'; t3t='512_384_32_160_3'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order, m, rest): return [C+f'{order}_{m}_false_{head}_4_'+rest]
    small=f'128_128_2_2_{t2}'; big={64:f'192_128_2_3_{t3t}',128:f'192_80_2_2_{t3}'}.get(head)
    if mask=='f':
        if head==256: return s('Grouped_1024_',0,f'128_64_1_2_{t2}') if name in ('before','F','twin') else []
        mp=132; rr=lambda r: -(-(-(-tokens//r)*heads)//mp)*r
        long192 = rr(192) < {64:1.15,128:1.06}[head]*rr(128)
        f=big if long192 else (f'128_208_2_2_{t2}' if head==64 else small)
        return s('Grouped_1024_',0,f) if name in ('before','F','twin') else []
    if head==256:
        if name=='F a': return s('LastFirst',2,f'128_64_1_2_{t2}_true')
        return s('LastFirst',2,f'128_64_1_2_{t2}') if name in ('before','twin') else []
    if name=='F a':
        if (head,mask)==(64,'c'): return []
        m=1 if mask=='c' else 2
        forms={(64,2):['192_128_2_3','192_64_2_5'],(128,1):['192_80_2_2'],(128,2):['192_80_2_2']}[head,m]
        return [x for f in forms for x in s('FromEnd',m,f'{f}_{t3}_true')]
    m=1 if mask=='c' else 2
    if name in('before','F'): return s('LastFirst',m,small)
    if name=='ours': return s('FromEnd',m,big)
    if name=='F ': return s('FromEnd',m,big) if (head,m)==(64,1) else []
    if name=='twin ': return s('FromEnd',1,big) if m==1 else []
    return s('LastFirst',m,small)
CELLS=eval(os.environ['CELLS'])
