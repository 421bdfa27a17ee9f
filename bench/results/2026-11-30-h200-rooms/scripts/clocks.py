"""Has attention store the clock around its products: clocks.py MODULE OUT, by edits of the PTX and `ptxas`.

The stores go behind the logarithms, whose buffer has that much more room (timeline.py)."""
import re, os, shutil, subprocess, json, sys
module, d = sys.argv[1:]
text=open(module+'/tilepipe-kernels.attention.sm_90a.ptx').read()
keep='attention__bf16_Grouped_1024__0_false_128_4_128_128_2_2_384_256_24_240_0'
out=[];L=text.split('\n');i=0
while i<len(L):
    m=re.match(r'\.visible \.entry (\S+?)\(',L[i])
    if m and not m.group(1).endswith(keep):
        while not L[i].startswith('}'): i+=1
        i+=1; continue
    out.append(L[i]); i+=1
text='\n'.join(out)
m=re.search(r'(?ms)^\.visible \.entry \S*'+keep+r'\(.*?^\}\n',text); b=m.group(0)
TOKENS,HEADS=4096,32
ev=lambda k:f'\t{{ .reg .u32 c; mov.u32 c, %clock; @tpq st.global.v2.u32 [tpp], {{c, {k}}}; @tpq add.u64 tpp, tpp, 8; }}\n'
par=re.search(r'(\S+_param_7)\[',b).group(1)
i=b.index('{\n')+2
b=b[:i]+'\t.reg .u64 tpp, tpo;\n\t.reg .pred tpq, tpa, tpb;\n\t.reg .u32 tpt, tpc;\n'+b[i:]
j=b.index('// %bb.0:'); j=b.index('\n',j)+1
b=b[:j]+f'''	mov.u32 tpt, %tid.x;
	mov.u32 tpc, %ctaid.x;
	setp.eq.u32 tpa, tpt, 128;
	setp.eq.u32 tpb, tpt, 256;
	or.pred tpq, tpa, tpb;
	setp.eq.u32 tpa, tpc, 5;
	and.pred tpq, tpq, tpa;
	ld.param.b64 tpp, [{par}];
	add.u64 tpp, tpp, {TOKENS*HEADS*4};
	selp.u64 tpo, 1048576, 0, tpb;
	add.u64 tpp, tpp, tpo;
'''+b[j:]
n=re.search(r'\$L__BB(\d+)_',b).group(1)
A='\t// begin inline asm\n'; Z='\t// end inline asm\n'
pos=[]
def add(at,k): pos.append((at,k))
fences=[x.start() for x in re.finditer(re.escape(A+'\twgmma.fence.sync.aligned;\n'+Z),b)]; assert len(fences)==3,len(fences)
commits=[x.end() for x in re.finditer(re.escape('\twgmma.commit_group.sync.aligned;\n'+Z),b)]; assert len(commits)==4
w0=[x for x in re.finditer(re.escape(A+'\twgmma.wait_group.sync.aligned 0;\n'+Z),b)]; w1=[x for x in re.finditer(re.escape(A+'\twgmma.wait_group.sync.aligned 1;\n'+Z),b)]
assert len(w0)==3 and len(w1)==1
add(fences[0],8); add(w0[0].end(),9)
add(fences[1],1); add(commits[1],2); add(commits[2],3); add(w1[0].start(),12); add(w1[0].end(),4); add(w0[1].start(),5); add(w0[1].end(),6)
add(fences[2],10); add(w0[2].end(),11)
for label,k in ((12,7),):
    t=b.index(f'$L__BB{n}_{label}:'); t=b.index('\n',t)+1
    while b[t:].lstrip().startswith('//'): t=b.index('\n',t)+1
    add(t,k)
for at,k in sorted(pos,reverse=True): b=b[:at]+ev(k)+b[at:]
text=text[:m.start()]+b+text[m.end():]
os.makedirs(d)
p=d+'/tilepipe-kernels.attention.sm_90a.ptx'; open(p,'w').write(text)
r=subprocess.run(['ptxas','-v','-arch=sm_90a',p,'-o',d+'/tilepipe-kernels.attention.sm_90a.sm_90a.cubin'],capture_output=True,text=True)
print(r.returncode,[l for l in r.stderr.split('\n') if 'spill' in l or 'error' in l or 'C75' in l][:6])
json.dump({'key':'x','images':[{'name':'attention.sm_90a','target':'sm_90a','architectures':['sm_90a']}],'files':{}},open(d+'/tilepipe-kernels.manifest.json','w'))
for f in ('messages.json','report.json'): shutil.copy(module+'/'+f,d)
