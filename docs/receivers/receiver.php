<?php // WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8000 receiver.php   (PHP 8; then: hookrail sim listen --forward-to 8000)
$secret = getenv('WEBHOOK_SECRET');
$body = file_get_contents('php://input');
$header = fn($name) => $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '';
[$id, $sent] = [$header('webhook-id'), $header('webhook-timestamp')];
$key = base64_decode(substr($secret, strlen('whsec_')));
$signature = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
$authentic = hash_equals($signature, $header('webhook-signature'))
    && hash_equals("API-Key $secret", $header('authorization'));
$fresh = abs(time() - (int) $sent) < 300;
$accepted = $authentic && $fresh;
http_response_code($accepted ? 200 : 401);
if (function_exists('fastcgi_finish_request')) fastcgi_finish_request(); // answer first, work afterwards
if (!$accepted) file_put_contents('php://stdout', "refused $id " . ($fresh ? 'another secret' : 'too old') . "\n");
// In production: a table with a unique column. Here a file per id, because each request is a new run.
$isFirst = fn() => @fopen(sys_get_temp_dir() . '/webhook-' . hash('sha256', $id), 'x') !== false;
if ($accepted && $isFirst()) { // a webhook may come more than once
    file_put_contents('php://stdout', "received $id " . json_decode($body)->type . "\n");
}
