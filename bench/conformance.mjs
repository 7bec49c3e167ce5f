// Runs the public test suite of HTTP caches (github.com/http-tests/cache-tests,
// its repository, not the npm package) against a real ssiedge in front of the
// suite's own origin, and prints what the suite makes of it.
//
//   node bench/conformance.mjs SUITE SSIEDGE SETTINGS [TEST]
//
// SUITE is the suite's folder, after "npm install" there; SSIEDGE the program;
// SETTINGS a file with ${LISTEN_PORT}, ${ADMIN_PORT} and ${ORIGIN_PORT}; with a
// TEST, that one alone is run and its messages are printed.
import { spawn } from 'node:child_process'
import { createServer, connect } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [suiteDir, program, settings, testId = ''] = process.argv.slice(2)
if (!settings) {
  console.error('usage: node bench/conformance.mjs SUITE SSIEDGE SETTINGS [TEST]')
  process.exit(2)
}
const suite = resolve(suiteDir)
const children = []
const scratch = mkdtempSync(join(tmpdir(), 'conformance-'))

// A port that was free a moment ago.
function freePort () {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

async function listening (port, child) {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode} before it listened`)
    const open = await new Promise(resolve => {
      const socket = connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true) })
      socket.once('error', () => resolve(false))
    })
    if (open) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`nothing listens on port ${port}`)
}

function start (command, args, options) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options })
  children.push(child)
  return child
}

// The suite reads its settings from where npm would put them.
function suiteEnv (more) {
  return {
    ...process.env,
    npm_config_protocol: 'http',
    npm_config_pidfile: join(scratch, 'pid'),
    npm_package_config_id: '',
    ...more
  }
}

function runSuite (base) {
  return new Promise((resolve, reject) => {
    const cli = spawn(process.execPath, ['--no-warnings', 'test-engine/cli.mjs'], {
      cwd: suite,
      env: suiteEnv({ npm_config_base: base, npm_config_id: testId }),
      stdio: ['ignore', 'pipe', 'inherit']
    })
    children.push(cli)
    let out = ''
    cli.stdout.on('data', data => { out += data })
    cli.on('error', reject)
    cli.on('close', code => code === 0 ? resolve(out) : reject(new Error(`the suite ended with ${code}:\n${out}`)))
  })
}

// Scores as the suite does: a test counts only if what it depends on passed.
async function report (results) {
  const load = file => import(pathToFileURL(join(suite, file)))
  const { default: suites } = await load('tests/index.mjs')
  const { determineTestResult, resultTypes } = await load('test-engine/lib/results.mjs')
  const nameOf = type => Object.keys(resultTypes).find(name => resultTypes[name] === type)
  const score = {}
  const failed = []
  for (const test of suites.flatMap(s => s.tests)) {
    const outcome = nameOf(determineTestResult(suites, test.id, results))
    if (outcome === 'untested') continue
    const kind = test.kind ?? 'required'
    score[kind] ??= { passed: 0, of: 0 }
    score[kind].of++
    if (outcome === 'pass' || outcome === 'yes') score[kind].passed++
    else failed.push({ kind, outcome, id: test.id, why: results[test.id] === true ? '' : results[test.id][1] })
  }
  for (const kind of ['required', 'optimal', 'check']) {
    console.log(`${kind}: ${score[kind].passed} of ${score[kind].of}`)
  }
  for (const kind of ['required', 'optimal', 'check']) {
    console.log(`\nnot passed, ${kind}:`)
    for (const f of failed.filter(f => f.kind === kind)) console.log(`  ${f.id} (${f.outcome}) ${f.why}`)
  }
}

try {
  const [originPort, listenPort, adminPort] = await Promise.all([freePort(), freePort(), freePort()])
  const origin = start(process.execPath, ['test-engine/server/server.mjs'], {
    cwd: suite, env: suiteEnv({ npm_config_port: String(originPort) })
  })
  await listening(originPort, origin)
  const edge = start(program, ['serve', '-c', settings], {
    env: { ...process.env, LISTEN_PORT: String(listenPort), ADMIN_PORT: String(adminPort), ORIGIN_PORT: String(originPort) }
  })
  await listening(listenPort, edge)
  const out = await runSuite(`http://127.0.0.1:${listenPort}`)
  if (testId !== '') console.log(out)
  else await report(JSON.parse(out))
} catch (err) {
  console.error(err.message)
  process.exitCode = 1
} finally {
  for (const child of children) child.kill('SIGTERM')
  rmSync(scratch, { recursive: true, force: true })
}
