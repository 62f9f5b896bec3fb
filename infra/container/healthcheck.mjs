// The HEALTHCHECK of the images: exits with 0 when the process answers at /healthz of the given port. The
// images have no curl and no shell.
try {
  const answer = await fetch(`http://127.0.0.1:${process.argv[2]}/healthz`, {
    signal: AbortSignal.timeout(4000),
  });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
