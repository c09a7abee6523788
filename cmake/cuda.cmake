# The CUDA compiler: an installed toolkit, or the one that `./test --cuda` puts into build/cuda-venv (scripts/cuda.sh). Without it
# the program is built without CUDA, and says so. By nvcc itself, because the packages of pip are not laid out as CMake's own
# support of CUDA wants a toolkit to be.
file(GLOB OSIER_CUDA_HINTS ${PROJECT_SOURCE_DIR}/build/cuda-venv/lib/python3*/site-packages/nvidia/cu13/bin)
find_program(OSIER_NVCC nvcc HINTS ${OSIER_CUDA_HINTS} ENV CUDA_HOME PATHS /usr/local/cuda/bin PATH_SUFFIXES bin)
# From Turing on, and PTX for what is newer than this compiler.
set(OSIER_CUDA_ARCHITECTURES "75;80;86;89;90;100" CACHE STRING "Compute capabilities of the device code")

if(OSIER_NVCC)
  message(STATUS "CUDA kernels: compiled by ${OSIER_NVCC}")
else()
  message(STATUS "CUDA kernels: not compiled, there is no nvcc (./test --cuda installs one)")
endif()

if(OSIER_NVCC)
  get_filename_component(OSIER_CUDA_BIN ${OSIER_NVCC} DIRECTORY)
  find_library(OSIER_CUDART cudart_static HINTS ${OSIER_CUDA_BIN}/../lib ${OSIER_CUDA_BIN}/../lib64
                                                ${OSIER_CUDA_BIN}/../targets/x86_64-linux/lib REQUIRED)
  set(OSIER_CUDA_CODE "")
  foreach(architecture ${OSIER_CUDA_ARCHITECTURES})
    list(APPEND OSIER_CUDA_CODE -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET OSIER_CUDA_ARCHITECTURES -1 newest)
  list(APPEND OSIER_CUDA_CODE -gencode arch=compute_${newest},code=compute_${newest})
  # Divisions and roots of float to a rounding or two, which is what math/number.hpp asks for. The host's share is compiled as all
  # other sources are.
  set(OSIER_CUDA_FLAGS -std=c++20 -O3 --expt-relaxed-constexpr --prec-div=false --prec-sqrt=false --ftz=true --threads 0
                       -Xcompiler=-ffp-contract=off,-fno-math-errno,-fno-trapping-math,-fno-tree-slp-vectorize
                       -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
endif()

# osier_cuda_sources(TARGET SOURCE...): device code of the program. The sources that call it are told by OSIER_HAS_CUDA.
function(osier_cuda_sources target)
  foreach(source ${ARGN})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${OSIER_NVCC} ${OSIER_CUDA_FLAGS} ${OSIER_CUDA_CODE} --Werror all-warnings -MD -MF ${object}.d -c -o ${object} ${source}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building CUDA object ${name}" VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${object})
  endforeach()
  target_link_libraries(${target} PUBLIC ${OSIER_CUDART} rt ${CMAKE_DL_LIBS} Threads::Threads)
endfunction()

# osier_cuda_program(NAME SOURCE...): a program of device code.
function(osier_cuda_program name)
  set(sources "")
  foreach(source ${ARGN})
    list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  set(program ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${OSIER_NVCC} ${OSIER_CUDA_FLAGS} ${OSIER_CUDA_CODE} --Werror all-warnings -I${PROJECT_SOURCE_DIR}/tests
            -L${OSIER_CUDA_BIN}/../lib -MD -MF ${program}.d -o ${program} ${sources}
    DEPENDS ${sources} DEPFILE ${program}.d COMMENT "Building CUDA program ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${program})
endfunction()
