// The images' HEALTHCHECK: 0 when the process answers at /healthz of the port given. There is no curl in them, and no shell.
try {
  const answer = await fetch(`http://127.0.0.1:${process.argv[2]}/healthz`, {
    signal: AbortSignal.timeout(4000),
  });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
