# The viewer's page (viewer/, TypeScript) becomes part of the program where node and npm are there.
#   OSIER_VIEWER=AUTO  builds it when it can, and the program without it otherwise
#   OSIER_VIEWER=ON    fails when it cannot
#   OSIER_VIEWER=OFF   never
set(OSIER_VIEWER AUTO CACHE STRING "Build the web viewer into the program: AUTO, ON or OFF")
set_property(CACHE OSIER_VIEWER PROPERTY STRINGS AUTO ON OFF)

# osier_embed_viewer(SOURCE): gives the source file the path of the built page
function(osier_embed_viewer source)
  if(NOT OSIER_VIEWER)
    message(STATUS "Viewer: left out (OSIER_VIEWER=${OSIER_VIEWER})")
    return()
  endif()
  find_program(OSIER_NODE NAMES node nodejs)
  find_program(OSIER_NPM npm)
  set(missing "")
  if(NOT OSIER_NODE OR NOT OSIER_NPM)
    set(missing "node and npm were not found")
  elseif(NOT EXISTS ${PROJECT_SOURCE_DIR}/viewer/package-lock.json)
    set(missing "there is no viewer/package-lock.json")
  else()
    execute_process(COMMAND ${OSIER_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCH "[0-9]+" major "${version}")
    if(NOT major OR major LESS 18)
      set(missing "node ${version} is too old, 18 is needed")
    endif()
  endif()
  if(missing)
    if(NOT OSIER_VIEWER STREQUAL AUTO)
      message(FATAL_ERROR "Viewer: ${missing}; install the packages nodejs and npm, or configure with -DOSIER_VIEWER=OFF")
    endif()
    message(STATUS "Viewer: left out, ${missing}; `osier view` and `--html` will say how to get it")
    return()
  endif()
  set(page ${PROJECT_BINARY_DIR}/viewer.html)
  # An empty page is the mark of a build that failed in AUTO: each configuration tries again.
  if(EXISTS ${page})
    file(SIZE ${page} size)
    if(size EQUAL 0)
      file(REMOVE ${page})
    endif()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/*)
  set(depends ${sources})
  foreach(name package.json package-lock.json tsconfig.json vite.config.ts viewer.html)
    if(EXISTS ${PROJECT_SOURCE_DIR}/viewer/${name})
      list(APPEND depends ${PROJECT_SOURCE_DIR}/viewer/${name})
    endif()
  endforeach()
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DNPM=${OSIER_NPM} -DVIEWER=${PROJECT_SOURCE_DIR}/viewer -DPAGE=${page} -DMODE=${OSIER_VIEWER}
            -DLOG=${PROJECT_BINARY_DIR}/viewer.log -P ${PROJECT_SOURCE_DIR}/cmake/build_viewer.cmake
    DEPENDS ${depends} ${PROJECT_SOURCE_DIR}/cmake/build_viewer.cmake
    COMMENT "Building the viewer's page"
    VERBATIM)
  set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS "OSIER_VIEWER_PAGE=\"${page}\"" OBJECT_DEPENDS ${page})
  message(STATUS "Viewer: built with node ${version}")
endfunction()
