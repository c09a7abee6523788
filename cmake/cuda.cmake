# The CUDA compiler: an installed toolkit, or the one that `./test --cuda` puts into build/cuda-venv (scripts/cuda.sh). Nothing in
# the program needs it; with it `cuda` compiles the kernels of tests/parity for the device.
file(GLOB OSIER_CUDA_HINTS ${PROJECT_SOURCE_DIR}/build/cuda-venv/lib/python3*/site-packages/nvidia/cu13/bin)
find_program(OSIER_NVCC nvcc HINTS ${OSIER_CUDA_HINTS} ENV CUDA_HOME PATHS /usr/local/cuda/bin PATH_SUFFIXES bin)
# From Turing on, and PTX for what is newer than this compiler.
set(OSIER_CUDA_ARCHITECTURES "75;80;86;89;90;100" CACHE STRING "Compute capabilities of the device code")

if(OSIER_NVCC)
  message(STATUS "CUDA kernels: compiled by ${OSIER_NVCC}")
else()
  message(STATUS "CUDA kernels: not compiled, there is no nvcc (./test --cuda installs one)")
endif()

# osier_cuda_program(NAME SOURCE...): a program of device code, by nvcc itself, because the packages of pip are not laid out as
# CMake's own support of CUDA wants a toolkit to be.
function(osier_cuda_program name)
  set(sources "")
  foreach(source ${ARGN})
    list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  set(code "")
  foreach(architecture ${OSIER_CUDA_ARCHITECTURES})
    list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET OSIER_CUDA_ARCHITECTURES -1 newest)
  list(APPEND code -gencode arch=compute_${newest},code=compute_${newest})
  get_filename_component(bin ${OSIER_NVCC} DIRECTORY)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${OSIER_NVCC} -std=c++20 -O2 --expt-relaxed-constexpr ${code} --Werror all-warnings -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
            -I${PROJECT_SOURCE_DIR}/tests -L${bin}/../lib -MD -MF ${program}.d -o ${program} ${sources}
    DEPENDS ${sources} DEPFILE ${program}.d COMMENT "Building CUDA program ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${program})
endfunction()
