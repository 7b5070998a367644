.DEFAULT_GOAL := help
.PHONY: help up down logs test

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

up: ## Build and start everything, then print the addresses
	@sh deploy/host/up.sh

down: ## Stop this project's containers; the development certificate stays
	@docker compose --profile '*' down

logs: ## Follow the logs
	@docker compose logs --follow --tail 100

test: ## Check everything: types, lint, units, the proxy's contract, a real browser through the real stack
	@sh deploy/test/run.sh
