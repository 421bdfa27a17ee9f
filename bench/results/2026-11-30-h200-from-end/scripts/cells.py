import os
W=os.environ['WORK']
MODS={'before':(W+'/lib_main.so',W+'/now'),'ours':(W+'/lib_new.so',W+'/E'),'twin':(W+'/lib_main.so',W+'/T'),'twin ':(W+'/lib_new.so',W+'/T')}
PROTO=['h128c16417s3','g128c16417','a128c16417','m80c16417s3']
C='attention__bf16_'
t3='512_384_32_160_0'; t3t='512_384_32_160_3'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order, m, rest): return [C+f'{order}_{m}_false_{head}_4_'+rest]
    small=f'128_128_2_2_{t2}'; big={64:f'192_128_2_3_{t3t}',128:f'192_80_2_2_{t3}'}.get(head)
    if head==256:
        return s(*(('LastFirst',2) if mask=='c' else ('Grouped_1024_',0)),f'128_64_1_2_{t2}') if name in ('before','twin') else []
    if mask=='f':
        mp=132; rr=lambda r: -(-(-(-tokens//r)*heads)//mp)*r
        long192 = rr(192) < {64:1.15,128:1.06}[head]*rr(128)
        if head==64 and tokens<1024: long192=False
        f=big if long192 else (f'128_208_2_2_{t2}' if head==64 else small)
        return s('Grouped_1024_',0,f) if name in ('before','twin') else []
    if mask=='c':
        new = tokens>={64:2048,128:4096}[head]; old = tokens>{64:2048,128:4096}[head]
        if name=='before': return s('LastFirst',1,big if old else small)
        if name=='ours': return s('FromEnd',1,big) if new else []
        if name=='twin': return s('LastFirst',1,small) if not new else []
        return s('FromEnd',1,big) if new else []
    new = before+1>={64:1536,128:3072}[head]
    if name=='before': return s('LastFirst',2,small)
    if name=='ours': return s('FromEnd',2,big) if new else []
    if name=='twin': return s('LastFirst',2,small)
    return []
CELLS=eval(os.environ['CELLS'])
