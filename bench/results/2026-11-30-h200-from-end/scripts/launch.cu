// Launches the prototype: nvcc -O2 -shared -Xcompiler -fPIC launch.cu -o liblaunch.so -lcuda
#include <cuda.h>
#include <cstdio>
#include <cstring>
static CUmodule mods[16]; static int nmods; static CUfunction fns[256]; static int nfns;
#define CU(x) do{CUresult e=(x); if(e!=CUDA_SUCCESS){const char*s="?"; cuGetErrorString(e,&s); fprintf(stderr,"CU %s at %d\n",s,__LINE__); return -1;} }while(0)
extern "C" int tl_load(const char*path){ CU(cuModuleLoad(&mods[nmods],path)); return nmods++; }
extern "C" int tl_fn(int mod,const char*name,int smem){ CU(cuModuleGetFunction(&fns[nfns],mods[mod],name)); CU(cuFuncSetAttribute(fns[nfns],CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,smem)); return nfns++; }
// (BH, S, D) bf16 as {64, S, D/64, BH}
extern "C" int tl_map(void*out,unsigned long long p,int bh,int s,int d,int rows){ CUtensorMap m; cuuint64_t dd[4]={64,(cuuint64_t)s,(cuuint64_t)d/64,(cuuint64_t)bh},st[3]={(cuuint64_t)d*2,128,(cuuint64_t)s*d*2}; cuuint32_t b[4]={64,(cuuint32_t)rows,(cuuint32_t)d/64,1},es[4]={1,1,1,1};
 CU(cuTensorMapEncodeTiled(&m,CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,4,(void*)p,dd,st,b,es,CU_TENSOR_MAP_INTERLEAVE_NONE,CU_TENSOR_MAP_SWIZZLE_128B,CU_TENSOR_MAP_L2_PROMOTION_L2_256B,CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)); memcpy(out,&m,128); return 0; }
extern "C" int tl_map2(void*out,unsigned long long p,int heads,int s,int d,int rows,int row_elems){ CUtensorMap m; cuuint64_t dd[4]={64,(cuuint64_t)s,(cuuint64_t)d/64,(cuuint64_t)heads},st[3]={(cuuint64_t)row_elems*2,128,(cuuint64_t)d*2}; cuuint32_t b[4]={64,(cuuint32_t)rows,(cuuint32_t)d/64,1},es[4]={1,1,1,1};
 CU(cuTensorMapEncodeTiled(&m,CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,4,(void*)p,dd,st,b,es,CU_TENSOR_MAP_INTERLEAVE_NONE,CU_TENSOR_MAP_SWIZZLE_128B,CU_TENSOR_MAP_L2_PROMOTION_L2_256B,CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)); memcpy(out,&m,128); return 0; }
extern "C" int tl_launch(int f,int grid,int threads,int smem,unsigned long long stream,void*maps,unsigned nblk,unsigned sec,unsigned total,unsigned seq,unsigned gq,float scale,unsigned long long ctr){
 alignas(64) CUtensorMap m[4]; memcpy(m,maps,512); void*args[]={&m[0],&m[1],&m[2],&m[3],&nblk,&sec,&total,&seq,&gq,&scale,&ctr};
 CU(cuLaunchKernel(fns[f],grid,1,1,threads,1,1,smem,(CUstream)stream,args,0)); return 0; }
