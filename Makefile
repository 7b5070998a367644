.DEFAULT_GOAL := help
.PHONY: help up deploy rollback releases down logs doctor status check-app test bench loadtest render render-proxy verify-cluster release

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

up: ## Build and start everything, then print the addresses
	@sh deploy/host/up.sh

deploy: ## Replace what has changed: web without failing a request, and Culvert itself after a git pull
	@sh deploy/host/deploy.sh

rollback: ## Put the release of web before this one back, without a build or a failed request: RELEASE=<tag> chooses another
	@sh deploy/host/rollback.sh

releases: ## List the releases of web that can be put back, and which one runs
	@sh deploy/host/releases.sh

down: ## Stop this project's containers; certificate, stored files and queued envelopes stay
	@docker compose --profile '*' down

logs: ## Follow the logs
	@docker compose logs --follow --tail 100

doctor: ## Say what is wrong and what to do, a line for each check: BASE_URL=https://app.example.com checks from outside
	@sh deploy/host/doctor.sh $(if $(JSON),--json)

status: ## Show containers, certificate, envelopes of the last five minutes and the spool's queue
	@sh deploy/host/status.sh

check-app: ## Check an image of your own app against the contract of docs/your-app.md: WEB_IMAGE=registry.example/shop:1.4
	@sh deploy/host/check-app.sh $(if $(JSON),--json)

test: ## Run all checks: types, lint, unit tests, tests of the images, a real browser through the real stack
	@sh deploy/test/run.sh

bench: ## Compare the proxy with tunnelRoute, a bare proxy_pass, HAProxy and Caddy
	@sh loadtest/bench/run.sh

loadtest: ## Run k6 against a deployment: PROFILE=average BASE_URL=https://app.example.com ARGS='--tag team=shop'
	@sh loadtest/run.sh $(ARGS)

render: ## Write all objects of a Kubernetes overlay into one file: OVERLAY=production
	@sh deploy/kubernetes/render.sh "$(OVERLAY)"

render-proxy: ## Print Nginx's whole configuration for the settings in .env
	@docker compose build --quiet proxy && docker compose run --rm --no-deps --no-TTY proxy render

verify-cluster: ## Check a deployment from inside its cluster, one line per check: NAMESPACE=culvert
	@sh deploy/kubernetes/verify.sh $(NAMESPACE)

release: ## Push the images and the Helm chart: VERSION=1.0.0 REGISTRY=registry.example.com/culvert
	@sh deploy/chart/release.sh
