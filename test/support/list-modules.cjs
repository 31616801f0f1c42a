// Preloaded into the service by tests: prints, as it exits, the packages that it has loaded.
process.on('exit', () => {
  const packages = Object.keys(require.cache).map(
    (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1],
  )
  console.error(`packages: ${[...new Set(packages.filter(Boolean))].join(' ')}`)
})
