import { run } from '../../dist/app/run.js'

// npm start: the service, and beside its embedded database the demo with this shop. The one place that brings both
// together: the service knows no example, and the example only what any client and any operator may do.
run(async (host) => {
  const { openDemo } = await import('./dist/demo/open-demo.js')
  return openDemo(host)
})
