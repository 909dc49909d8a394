<?php // WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8000 receiver.php   (PHP 8 with pdo_sqlite; then: hookrail sim listen --forward-to 8000)
// Under php-fpm the pool sets it: env[WEBHOOK_SECRET] = whsec_…
$secrets = array_values(array_filter(explode(' ', (string) getenv('WEBHOOK_SECRET')), 'strlen')); // while a secret is rotated: "whsec_new… whsec_old…"
$keyOf = fn($secret) => str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, strlen('whsec_'))) : $secret;
// The log of php -S is the terminal, that of php-fpm the web server's log of errors.
$say = fn($line) => PHP_SAPI === 'cli-server' ? file_put_contents('php://stdout', "$line\n") : error_log($line);
$resultOf = function ($id, $about, $sequence) {
    // In production: tables of your own database. A file of WEBHOOK_DB outlives a restart.
    $database = new PDO('sqlite:' . (getenv('WEBHOOK_DB') ?: sys_get_temp_dir() . '/webhooks-' . PHP_SAPI . '.db'));
    $database->exec('CREATE TABLE IF NOT EXISTS webhooks (id TEXT PRIMARY KEY)');
    $database->exec('CREATE TABLE IF NOT EXISTS latest (about TEXT PRIMARY KEY, sequence INTEGER NOT NULL)');
    $first = $database->prepare('INSERT INTO webhooks (id) VALUES (?) ON CONFLICT DO NOTHING');
    $first->execute([$id]);
    if ($first->rowCount() !== 1) return 'repeated'; // a webhook may come more than once
    if ($sequence === null) return 'applied';
    $latest = $database->prepare('INSERT INTO latest (about, sequence) VALUES (?, CAST(? AS INTEGER)) ON CONFLICT (about) DO UPDATE'
        . ' SET sequence = excluded.sequence WHERE excluded.sequence >= latest.sequence');
    $latest->execute([$about, $sequence]);
    return $latest->rowCount() === 1 ? 'applied' : 'older'; // a newer one came first: do not apply this one
};
$noteAuthorization = function ($value) use ($secrets, $say) {
    foreach ($secrets as $secret) if ($value === "API-Key $secret") return;
    // The signature proves more than Authorization, which some servers keep to themselves.
    $say(($value ? 'another' : 'no') . ' Authorization arrived; the signature is enough. To get it: Apache "CGIPassAuth On", '
        . 'nginx "fastcgi_param HTTP_AUTHORIZATION $http_authorization", API gateways: forward the header Authorization.');
};

$body = file_get_contents('php://input');
$headers = array_change_key_case(getallheaders());
[$id, $sent] = [$headers['webhook-id'] ?? '', $headers['webhook-timestamp'] ?? ''];
$isSigned = false;
foreach ($secrets as $secret) {
    $signature = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $keyOf($secret), true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $each) $isSigned = hash_equals($signature, $each) || $isSigned;
}
$isFresh = abs(time() - (int) $sent) < 300;
if (!$secrets) {
    http_response_code(500);
    $say('WEBHOOK_SECRET is not set');
} elseif ($body === '' && isset($headers['transfer-encoding'])) {
    http_response_code(411);
    $say("refused $id: no body arrived, because it came in chunks. To get it: Apache \"SetEnv proxy-sendcl 1\"");
} elseif (!$isSigned || !$isFresh) {
    http_response_code(401);
    $say("refused $id " . ($isSigned ? 'too old' : 'another secret, or a changed body'));
} else {
    $type = json_decode($body)->type;
    $result = $resultOf($id, "$type " . ($headers['webhook-subject-id'] ?? ''), $headers['webhook-sequence'] ?? null);
    header("webhook-result: $result");
    if ($result !== 'repeated') $noteAuthorization($headers['authorization'] ?? $_SERVER['REDIRECT_HTTP_AUTHORIZATION'] ?? '');
    if ($result === 'applied') $say("received $id $type");
    if ($result === 'older') $say("older $id $type");
    if (function_exists('fastcgi_finish_request')) fastcgi_finish_request(); // answer first, work afterwards
}
