import os
W=os.environ['WORK']
MODS={'before':(W+'/lib_main.so',W+'/now'),'ours':(W+'/lib_new.so',W+'/E'),'apart':(W+'/lib_A.so',W+'/A'),'twin':(W+'/lib_main.so',W+'/T'),'twin ':(W+'/lib_new.so',W+'/T')}
PROTO=['h128c16417s3','g128c16417','a128c16417','m80c16417s3']
C='attention__bf16_'
t3='512_384_32_160_0'; t3t='512_384_32_160_3'; t2='384_256_24_240_0'
def SYM(name, cell):
    head, mask, tokens, heads, before = cell
    def s(order, m, rest): return [C+f'{order}_{m}_false_{head}_4_'+rest]
    small=f'128_128_2_2_{t2}'; big={64:f'192_128_2_3_{t3t}',128:f'192_80_2_2_{t3}'}.get(head)
    if head==256:
        if name=='apart': return s('LastFirst',2,f'128_64_1_2_{t2}_true')
        return s('LastFirst',2,f'128_64_1_2_{t2}') if name in ('before','twin') else []
    if name=='apart':
        m=1 if mask=='c' else 2
        forms={(64,1):['192_128_2_3','192_64_2_5'],(64,2):['192_128_2_3','192_64_2_5'],(128,1):['192_80_2_2'],(128,2):['192_80_2_2','192_64_2_2']}[head,m]
        return [x for f in forms for x in s('FromEnd',m,f'{f}_{t3}_true')]
    m=1 if mask=='c' else 2
    if name=='before': return s('LastFirst',m,small)
    if name=='ours': return s('FromEnd',m,big)
    if name=='twin ': return s('FromEnd',1,big) if m==1 else []
    return s('LastFirst',m,small)
CELLS=eval(os.environ['CELLS'])
