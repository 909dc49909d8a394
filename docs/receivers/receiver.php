<?php // WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8000 receiver.php   (PHP 8 with pdo_sqlite; then: hookrail sim listen --forward-to 8000)
// WEBHOOK_KEYS=https://…/.well-known/webhook-keys as well, or a file of it: the signature v1a must be right, too (sodium).
// Under php-fpm the pool sets it: env[WEBHOOK_SECRET] = whsec_…
$secrets = array_values(array_filter(explode(' ', (string) getenv('WEBHOOK_SECRET')), 'strlen')); // while a secret is rotated: "whsec_new… whsec_old…"
$keyOf = fn($secret) => str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, strlen('whsec_'))) : $secret;
// The log of php -S is the terminal, that of php-fpm the web server's log of errors.
$say = fn($line) => PHP_SAPI === 'cli-server' ? file_put_contents('php://stdout', "$line\n") : error_log($line);
$open = function () {
    // In production: tables of your own database. A file of WEBHOOK_DB outlives a restart.
    $database = new PDO('sqlite:' . (getenv('WEBHOOK_DB') ?: sys_get_temp_dir() . '/webhooks-' . PHP_SAPI . '.db'));
    $database->exec('CREATE TABLE IF NOT EXISTS webhooks (id TEXT PRIMARY KEY)');
    $database->exec('CREATE TABLE IF NOT EXISTS latest (about TEXT PRIMARY KEY, sequence INTEGER NOT NULL)');
    $database->exec('CREATE TABLE IF NOT EXISTS public_keys (place TEXT PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL)');
    return $database;
};
$resultOf = function ($id, $about, $sequence) use ($open) {
    $database = $open();
    $first = $database->prepare('INSERT INTO webhooks (id) VALUES (?) ON CONFLICT DO NOTHING');
    $first->execute([$id]);
    if ($first->rowCount() !== 1) return 'repeated'; // a webhook may come more than once
    if ($sequence === null) return 'applied';
    $latest = $database->prepare('INSERT INTO latest (about, sequence) VALUES (?, CAST(? AS INTEGER)) ON CONFLICT (about) DO UPDATE'
        . ' SET sequence = excluded.sequence WHERE excluded.sequence >= latest.sequence');
    $latest->execute([$about, $sequence]);
    return $latest->rowCount() === 1 ? 'applied' : 'older'; // a newer one came first: do not apply this one
};
$publicKeys = function ($place, $secondsMax) use ($open) {
    $kept = $open()->prepare('SELECT at, text FROM public_keys WHERE place = ?');
    $kept->execute([$place]);
    [$at, $text] = $kept->fetch(PDO::FETCH_NUM) ?: [0, ''];
    if (time() - $at > $secondsMax) {
        $read = (string) @file_get_contents($place, false, stream_context_create(['http' => ['timeout' => 5]]));
        if (isset(json_decode($read)->keys)) $text = $read; // unreachable: those that are known
        $open()->prepare('INSERT OR REPLACE INTO public_keys (place, at, text) VALUES (?, ?, ?)')->execute([$place, time(), $text]);
    }
    $keys = array_filter(json_decode($text)->keys ?? [], fn($key) => ($key->crv ?? '') === 'Ed25519' && strlen($key->x) === 43);
    return array_map(fn($key) => base64_decode(strtr($key->x, '-_', '+/')), $keys);
};
$isOfPlatform = function ($place, $message, $signatures) use ($publicKeys) {
    foreach ([300, 60] as $secondsMax) { // none fits: perhaps there is a new one, looked for at most once a minute
        foreach ($publicKeys($place, $secondsMax) as $key) foreach ($signatures as $each) {
            $signature = str_starts_with($each, 'v1a,') ? (string) base64_decode(substr($each, strlen('v1a,'))) : '';
            if (strlen($signature) === 64 && sodium_crypto_sign_verify_detached($signature, $message, $key)) return true;
        }
    }
    return false;
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
$signatures = explode(' ', $headers['webhook-signature'] ?? '');
foreach ($secrets as $secret) {
    $signature = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $keyOf($secret), true));
    foreach ($signatures as $each) $isSigned = hash_equals($signature, $each) || $isSigned;
}
if ($place = (string) getenv('WEBHOOK_KEYS')) $isSigned = $isSigned && $isOfPlatform($place, "$id.$sent.$body", $signatures);
$isFresh = abs(time() - (int) $sent) < 300;
if (!$secrets) {
    http_response_code(500);
    $say('WEBHOOK_SECRET is not set');
} elseif ($body === '' && isset($headers['transfer-encoding'])) {
    http_response_code(411);
    $say("refused $id: no body arrived, because it came in chunks. To get it: Apache \"SetEnv proxy-sendcl 1\"");
} elseif (!$isSigned || !$isFresh) {
    http_response_code(401);
    $say("refused $id " . ($isSigned ? 'too old' : 'another secret or key, or a changed body'));
} else {
    $type = json_decode($body)->type;
    $result = $resultOf($id, "$type " . ($headers['webhook-subject-id'] ?? ''), $headers['webhook-sequence'] ?? null);
    header("webhook-result: $result");
    if ($result !== 'repeated') $noteAuthorization($headers['authorization'] ?? $_SERVER['REDIRECT_HTTP_AUTHORIZATION'] ?? '');
    if ($result === 'applied') $say("received $id $type");
    if ($result === 'older') $say("older $id $type");
    if (function_exists('fastcgi_finish_request')) fastcgi_finish_request(); // answer first, work afterwards
}
