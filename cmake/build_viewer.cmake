# Run by the build: npm install where the lock file is newer than what is installed, npm run build, and the page to where the
# program takes it from. In AUTO a failure is told and leaves an empty page, so that a machine without a network still gets the program.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${VIEWER} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  file(APPEND ${LOG} "$ ${ARGN}\n${text}\n")
  if(result EQUAL 0)
    return()
  endif()
  list(JOIN ARGN " " command)
  if(MODE STREQUAL AUTO)
    message(WARNING "Viewer: `${command}` failed, so the program is built without the page; the log is in ${LOG}. "
                    "Configure again to try again, or with -DOSIER_VIEWER=OFF to leave it out.")
    file(WRITE ${PAGE} "")
    set(failed TRUE PARENT_SCOPE)
  else()
    message(FATAL_ERROR "Viewer: `${command}` failed; the log is in ${LOG}\n${text}")
  endif()
endfunction()

file(WRITE ${LOG} "")
set(failed FALSE)
set(installed ${VIEWER}/node_modules/.package-lock.json)
# Builds of several folders may want the same installation at once.
file(MAKE_DIRECTORY ${VIEWER}/build)
file(LOCK ${VIEWER}/build/lock GUARD PROCESS TIMEOUT 600)
if(NOT EXISTS ${installed} OR ${VIEWER}/package-lock.json IS_NEWER_THAN ${installed})
  # Not `npm ci`: it wants builds of optional packages for every system in the lock file, which lists those of Linux. What the
  # file lists is installed in its version, and the file stays as it is.
  run(${NPM} install --no-save --no-audit --no-fund)
endif()
if(NOT failed)
  run(${NPM} run build)
endif()
if(NOT failed)
  file(COPY_FILE ${VIEWER}/dist/viewer.html ${PAGE})
  file(TOUCH ${PAGE})
endif()
