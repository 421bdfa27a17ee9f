#define WITHOUT_LIBRARIES
#include <cuda_runtime.h>
#include "wide.cuh"
#include <cuda.h>
#include <cstdio>
#include <vector>
#include <algorithm>
#include <string>
extern "C" __global__ void __launch_bounds__(128) hand(View<int> in, View<int> out){ wide_by_hand<128,4,1,true>(in,out);}
extern "C" __global__ void __launch_bounds__(128) vec(View<int> in, View<int> out){ wide_vector<128,4>(in,in,out);}
extern "C" __global__ void __launch_bounds__(128) empty(View<int> in, View<int> out){}
#define CK(x) do{auto r_=(x); if(r_){printf("%s -> %d\n",#x,int(r_)); exit(1);}}while(0)
int main(int argc,char**argv){
  cudaFree(0);
  std::vector<std::pair<std::string,const void*>> ks; std::vector<CUfunction> fs; std::vector<std::string> names;
  for(auto p: {std::make_pair("empty",(const void*)empty),std::make_pair("hand",(const void*)hand),std::make_pair("vec",(const void*)vec)}){
    cudaFunction_t f; CK(cudaGetFuncBySymbol(&f,p.second)); fs.push_back((CUfunction)f); names.push_back(p.first);
  }
  for(int i=1;i<argc;i++){ CUmodule m; CUfunction f; CK(cuModuleLoad(&m,argv[i])); CK(cuModuleGetFunction(&f,m,"k")); fs.push_back(f); names.push_back(argv[i]); }
  for(size_t bytes: {65536ul,262144ul,1048576ul}){
    size_t len=bytes/4; int *a,*b; cudaMalloc(&a,bytes); cudaMalloc(&b,bytes);
    std::vector<int> h(len),g(len); for(size_t i=0;i<len;i++) h[i]=int(i*2654435761u>>8); cudaMemcpy(a,h.data(),bytes,cudaMemcpyHostToDevice);
    CUstream s; cuStreamCreate(&s,CU_STREAM_NON_BLOCKING);
    struct {int*p; unsigned long long n;} vi{a,len}, vo{b,len}; void* ps[]={&vi,&vo}; View<int> ci{}; ci.base=a; ci.len=len; View<int> co{}; co.base=b; co.len=len; void* pc[]={&ci,&co};
    std::vector<CUgraphExec> es; unsigned blocks=len/512;
    for(auto f: fs){ cuStreamBeginCapture(s,CU_STREAM_CAPTURE_MODE_RELAXED); for(int i=0;i<100;i++) CK(cuLaunchKernel(f,blocks,1,1,128,1,1,f==fs[0]||f==fs[1]||f==fs[2]?0:2048,s,f==fs[0]||f==fs[1]||f==fs[2]?pc:ps,0)); CUgraph gr; CK(cuStreamEndCapture(s,&gr)); CUgraphExec e; CK(cuGraphInstantiate(&e,gr,0)); es.push_back(e);
    }
    std::vector<std::vector<float>> t(fs.size()); CUevent e0,e1; cuEventCreate(&e0,0); cuEventCreate(&e1,0);
    for(int r=0;r<60;r++) for(size_t k=0;k<fs.size();k++){
      cudaMemset(b,0xcc,bytes); cudaDeviceSynchronize();
      cuGraphLaunch(es[k],s); cuEventRecord(e0,s); for(int q=0;q<4;q++) cuGraphLaunch(es[k],s); cuEventRecord(e1,s); CK(cuStreamSynchronize(s)); float ms; cuEventElapsedTime(&ms,e0,e1); if(r>=5) t[k].push_back(ms*1000/400);
      if(r==0&&k>0){ cudaMemcpy(g.data(),b,bytes,cudaMemcpyDeviceToHost); size_t bad=0; for(size_t i=0;i<len;i++){ size_t n=i/256*256+(i+1)%256; bad+= g[i]!=int(3u*unsigned(h[i])+unsigned(h[n])); } if(bad) printf("%s wrong %zu\n",names[k].c_str(),bad);} 
    }
    printf("%zu KiB:",bytes/1024); for(size_t k=0;k<fs.size();k++){ std::sort(t[k].begin(),t[k].end()); printf("  %s %.3f",names[k].c_str(),t[k][t[k].size()/2]); } printf("\n");
  }
}
